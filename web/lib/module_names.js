/* SPDX-License-Identifier: Apache-2.0
 * module_names.js: programs of one name are told apart by the number that the compiler gave their file, else by their
 * id. Its own file: selectors and the table of modules say the same. */

const NUMBER = /(?:^|\/)module_(\d+)\./;

/* Pure. module, and each of its peers: {name, key, file}. Out: "jit_step", "jit_step #0157", "jit_step(8731)". */
export function moduleName(module, peers) {
  const { name, key } = module;
  if (peers.filter((peer) => peer.name === name && `${peer.key} ${peer.file}` !== `${key} ${module.file}`).length === 0)
    return name;
  const [, number] = NUMBER.exec(module.file ?? '') ?? NUMBER.exec(key) ?? [];
  return number ? `${name} #${number}` : key;
}
