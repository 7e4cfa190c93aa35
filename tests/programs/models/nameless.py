# SPDX-License-Identifier: Apache-2.0
"""Programs of the other files whose arguments come as one flat list: a[0], a[1], …; nothing but the graph tells what
they are."""
import jax

from catalog import Built, first_of, paths_of, program
from models import decode, flax_linen, flax_nnx, others, plain_gpt

SOURCES = {"gpt": lambda: plain_gpt.by_hand(chunked=True), "vit": lambda: flax_linen.vit(depth=4),
           "resnet": lambda: flax_linen.resnet(is_remat=True),
           "unet": flax_linen.diffusion, "ppo": flax_linen.ppo, "lora": flax_nnx.lora,
           "translator": lambda: others.translator(depth=2, rows=8),
           "moe": lambda: others.language(others.experts, (8, 1024), "sgd", 4),
           "decode": lambda: decode.step_over_pairs(donate=(1,)),
           "prefill": lambda: decode.prefill(is_last=True)}


@program("nameless-gpt", "gpt-hand-chunked-loss with nameless arguments", source="gpt",
         family="models.plain_gpt.by_hand")
@program("nameless-vit", "four blocks of linen-vit with nameless arguments", source="vit",
         family="models.flax_linen.vit")
@program("nameless-resnet", "linen-resnet50-remat with nameless arguments", source="resnet",
         family="models.flax_linen.resnet")
@program("nameless-unet", "linen-diffusion-unet with nameless arguments: averaged weights", source="unet",
         family="models.flax_linen.diffusion")
@program("nameless-ppo", "linen-ppo with nameless arguments: the loop trains", source="ppo",
         family="models.flax_linen.ppo")
@program("nameless-lora", "nnx-lora with nameless arguments: most weights are frozen", source="lora",
         family="models.flax_nnx.lora")
@program("nameless-translator", "a small eqx-translator with nameless arguments, not donated", source="translator",
         family="models.others.translator")
@program("nameless-moe", "haiku-moe-microbatches with nameless arguments", source="moe",
         family="models.others.language")
@program("nameless-decode", "decode-kept with nameless arguments", source="decode",
         family="models.decode.step_over_pairs")
@program("nameless-prefill", "prefill-last with nameless arguments", source="prefill", family="models.decode.prefill")
def flat(source):
    built = SOURCES[source]()
    leaves, tree = jax.tree.flatten(built.args)
    paths = paths_of(built.step, built.args)
    roles = [first_of(built.roles, path, None) for part in paths for path in part]
    donated = [at in built.donate for at, part in enumerate(paths) for _ in part]

    def call(*a):
        return built.step(*tree.unflatten(a))
    return Built(call, tuple(leaves), [(rf"^a\[{at}\]$", *role) for at, role in enumerate(roles)],
                 donate=tuple(at for at, is_donated in enumerate(donated) if is_donated), grads=built.grads)
