// Folders inside a library: which may exist, their maximum size, and which may import which (see rooms.mjs).
import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { allFiles, finish, importsOf, isCode, isTest, read, root } from './check-sources.mjs';

const { maxFiles, rooms } = await import(pathToFileURL(join(root, 'tools/rooms.mjs')).href);

const tablePath = 'tools/rooms.mjs';
const faults = [];
/** `lib room other` for every actual import, to find unused permissions. */
const used = new Set();

/**
 * The place of a file in its library: `{ lib, part: 'src' | 'test', room }`; `room` is '.' at the top of a
 * part.
 */
function placeOf(path) {
  // Generated code belongs to no room.
  const match = /^libs\/([^/]+)\/(src|test)\/(?!generated\/)(?:(.+)\/)?[^/]+$/.exec(path);
  return match && { lib: match[1], part: match[2], room: match[3] ?? '.' };
}

/** Reasons why a table is invalid: cycles, and rooms inside rooms. */
function checkTable(lib, table) {
  if (!existsSync(join(root, 'libs', lib))) {
    faults.push(`${tablePath}: there is no library ${lib}`);
    return;
  }
  const before = new Set();
  for (const [room, others] of Object.entries(table)) {
    if (room === '.') continue;
    for (const other of others) {
      if (!before.has(other))
        faults.push(`${tablePath}: ${lib}: ${room} may only import rooms that stand before it, not ${other}`);
    }
    if (room.includes('/')) faults.push(`${tablePath}: ${lib}: ${room} is a room inside a room`);
    before.add(room);
  }
}

/** The name of a top-level file in the row '.': its path without folders and extension. */
const stemOf = (path) => posix.basename(path).replace(/\.(?:[mc]?[jt]s|tsx)$/, '');

/** Checks one import inside a library. `from` and `to` are paths in the same library. */
function checkImport({ from, to, line }) {
  const [here, there] = [placeOf(from), placeOf(to)];
  if (!here || !there) return;
  const at = `${from}:${line}`;
  const test = /\.(spec|int|cluster)\.ts$/.test(from);
  if (here.part === 'src' && there.part === 'test' && !test)
    return faults.push(`${at}: only tests may import what is in test/`);
  if (here.part === 'test' || isTest(from)) return;

  const table = rooms[here.lib] ?? {};
  const shared = table['.'] ?? [];
  if (here.room === '.') {
    const isBelow = there.room === '.' && shared.includes(stemOf(to));
    if (shared.includes(stemOf(from)) && !isBelow)
      faults.push(`${at}: rooms import this file, so it may not import ${to}`);
    return;
  }
  if (there.room === here.room) return;
  if (there.room === '.') {
    if (!shared.includes(stemOf(to)))
      faults.push(`${at}: a room may not import ${to}, which stands above the rooms`);
    return;
  }
  used.add(`${here.lib} ${here.room} ${there.room}`);
  if (!table[here.room]?.includes(there.room))
    faults.push(`${at}: in ${here.lib} the room ${here.room} may not import ${there.room}`);
}

/** Reports unknown folders and folders with too many files. */
function checkFolders(files) {
  const counts = new Map();
  for (const path of files) {
    const place = placeOf(path);
    if (!place) continue;
    const { lib, part, room } = place;
    if (part === 'test') {
      if (room !== '.') faults.push(`${path}: libs/${lib}/test has no folders`);
      continue;
    }
    if (room !== '.' && !rooms[lib]?.[room])
      faults.push(`${path}: ${tablePath} knows no room ${room} in ${lib}`);
    if (!isTest(path)) counts.set(`${lib} ${room}`, (counts.get(`${lib} ${room}`) ?? 0) + 1);
  }
  for (const [key, count] of counts) {
    const [lib, room] = key.split(' ');
    if (count > maxFiles)
      faults.push(`${posix.join('libs', lib, 'src', room)}: has ${count} files, ${maxFiles} are allowed`);
  }
}

/** Reports unused rows and permissions, so that the table matches the code. */
function checkUse(files) {
  const inhabited = new Set(files.map(placeOf).map((place) => place && `${place.lib} ${place.room}`));
  for (const [lib, table] of Object.entries(rooms)) {
    for (const [room, others] of Object.entries(table)) {
      if (room === '.') continue;
      if (!inhabited.has(`${lib} ${room}`)) faults.push(`${tablePath}: ${lib} has no room ${room}`);
      for (const other of others) {
        if (!used.has(`${lib} ${room} ${other}`))
          faults.push(`${tablePath}: in ${lib} nothing in ${room} imports ${other}`);
      }
    }
  }
}

const files = allFiles().filter(isCode);
for (const [lib, table] of Object.entries(rooms)) checkTable(lib, table);
for (const path of files) {
  for (const { target, line } of importsOf(read(path))) {
    if (target.startsWith('.'))
      checkImport({ from: path, to: posix.join(dirname(path), target).replace(/\.js$/, '.ts'), line });
  }
}
checkFolders(files);
checkUse(files);
finish(faults);
