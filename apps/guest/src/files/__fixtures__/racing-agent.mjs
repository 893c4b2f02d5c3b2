// An agent that swaps the entries at its paths as fast as possible: folders, files, symlinks to the outside, hard
// links, FIFOs.
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { setPriority } from 'node:os';

const [volume, decoy, elsewhere, me, seconds, uid, gid] = process.argv.slice(2);
if (uid !== '') {
  process.setgroups([]);
  process.setgid(Number(gid));
  process.setuid(Number(uid));
}
// Lower the priority, or the guest would hardly run on a machine with few processors.
setPriority(10);
process.chdir(volume);

let swaps = 0;
const attempt = (act) => {
  try {
    act();
    return true;
  } catch {
    return false;
  }
};
const swap = (from, to) => {
  if (attempt(() => renameSync(from, to))) swaps++;
};
const exists = (path) => attempt(() => lstatSync(path));

/** Starts over if the guest has put or moved something here. */
const folder = (path) => {
  if (exists(`${path}/inner/file`)) return;
  attempt(() => rmSync(path, { recursive: true, force: true }));
  attempt(() => mkdirSync(`${path}/inner`, { recursive: true }));
  attempt(() => writeFileSync(`${path}/inner/file`, 'inside'));
};
const link = (target, path) => exists(path) || attempt(() => symlinkSync(target, path));

/** Alternates a folder with a symlink to the outside. */
const folderAndLink = (name) => {
  folder(name);
  link(decoy, `out-${name}`);
  swap(name, `real-${name}`);
  swap(`out-${name}`, name);
  swap(name, `out-${name}`);
  swap(`real-${name}`, name);
};

/** A symlink that points inside and is atomically replaced by one that points outside. */
const twoLinks = (name) => {
  folder(`home-${name}`);
  attempt(() => symlinkSync(`home-${name}`, `in-${name}`));
  attempt(() => symlinkSync(decoy, `to-${name}`));
  swap(`to-${name}`, name);
  swap(`in-${name}`, name);
};

/** Alternates a file with a symlink, hard links and a FIFO. */
const fileAndOthers = (name) => {
  attempt(() => writeFileSync(`plain-${name}`, 'inside'));
  swap(`plain-${name}`, name);
  attempt(() => symlinkSync(`${decoy}/file`, `sym-${name}`));
  swap(`sym-${name}`, name);
  // The owner of an outside file may always link it inside.
  if (uid !== '') attempt(() => linkSync(`${decoy}/file`, `hard-${name}`));
  attempt(() => linkSync(`home-s${me}/inner/file`, `hard-${name}`));
  swap(`hard-${name}`, name);
  swap(`fifo-${me}`, name);
  swap(name, `fifo-${me}`);
};

/** A folder that moves while a walk inside it uses `..`. */
const upAndAway = (name) => {
  folder(`${name}/a`);
  swap(`${name}/a`, `${elsewhere}/a-${me}`);
  swap(`${elsewhere}/a-${me}`, `${name}/a`);
  attempt(() => rmSync(`${elsewhere}/a-${me}`, { recursive: true, force: true }));
};

/** A folder that stays open while it is removed, and whose content keeps changing. */
let kept;
const insideRemoved = (name) => {
  if (kept === undefined) {
    folder(name);
    attempt(() => mkdirSync(`${name}/many`));
    for (let index = 0; index < 100; index++) attempt(() => writeFileSync(`${name}/many/${index}`, 'inside'));
    attempt(() => (kept = { fd: openSync(name), left: 300 }));
  }
  if (kept === undefined) return;
  const inside = `/proc/self/fd/${kept.fd}`;
  attempt(() => symlinkSync(decoy, `${inside}/link`));
  for (const inner of ['inner', 'many']) {
    swap(`${inside}/${inner}`, `${inside}/real`);
    swap(`${inside}/link`, `${inside}/${inner}`);
    swap(`${inside}/${inner}`, `${inside}/link`);
    swap(`${inside}/real`, `${inside}/${inner}`);
  }
  if (--kept.left > 0) return;
  closeSync(kept.fd);
  kept = undefined;
};

const until = Date.now() + Number(seconds) * 1_000;
while (Date.now() < until) {
  folderAndLink(`d${me}`);
  twoLinks(`s${me}`);
  fileAndOthers(`f${me}`);
  upAndAway(`u${me}`);
  insideRemoved(`v${me}`);
  if (me === '0') folderAndLink('inbox');
}
process.stdout.write(String(swaps));
