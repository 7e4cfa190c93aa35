# SPDX-License-Identifier: Apache-2.0
"""`memviewd run` around programs that others start: tasks and actors of Ray, a kernel of Jupyter, `uv run`; torch is
the one of standin/.

  launchers.py --binary build/release/memviewd --python build/launchers/bin/python
"""

import os
import sys

import box
from armed import FILL, STANDIN, snapshots

# Its processes import the job from its folder.
RAY = """
import ray
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
@ray.remote
def task():
    import job
    job.fill()
@ray.remote
class Actor:
    def fill(self):
        import job
        job.fill()
for work in (task.remote, lambda: Actor.remote().fill.remote()):
    try:
        ray.get(work())
    except Exception as error:
        print(type(error).__name__, flush=True)
"""
KERNEL = """
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel()
try:
    told = client.execute_interactive("import job\\njob.fill()", timeout=60, output_hook=lambda message: None)
    print(told["content"]["ename"], flush=True)
finally:
    client.stop_channels()
    manager.shutdown_kernel()
"""


def launched(here, *command, **variables):
    """`job.py` is at hand; what the command printed"""
    with open(os.path.join(here.folder, "job.py"), "w", encoding="utf-8") as file:
        file.write(FILL + "if __name__ == '__main__':\n    fill()\n")
    here.patience_seconds = 600  # Ray begins some ten processes
    path = os.pathsep.join((STANDIN, here.folder))
    return here.run(*command, variables={"PYTHONPATH": path, **variables})


def test_tasks_and_actors_of_ray_are_armed(here, options):
    done = launched(here, options.python, *here.script(RAY)[1:], RAY_USAGE_STATS_ENABLED="0")
    assert (done.returncode, done.stdout) == (0, b"RayTaskError(OutOfMemoryError)\n" * 2), done
    assert len(snapshots(here)) == 2 and b"PyTorch refused memory 2 times" in done.stderr, (snapshots(here), done)


def test_a_kernel_of_jupyter_is_armed(here, options):
    done = launched(here, options.python, *here.script(KERNEL)[1:])
    assert (done.returncode, done.stdout) == (0, b"OutOfMemoryError\n") and len(snapshots(here)) == 1, done


def test_what_uv_runs_is_armed(here, options):
    uv = os.path.join(os.path.dirname(options.python), "uv")
    done = launched(here, uv, "run", "--no-project", "--offline", "--python", options.python, "python", "job.py")
    assert (
        done.returncode == 1 and len(snapshots(here)) == 1 and b"armed: PyTorch in 1 of 1 Python process" in done.stderr
    ), done


if __name__ == "__main__":
    sys.exit(box.tests_run(globals(), __doc__, "--python"))
