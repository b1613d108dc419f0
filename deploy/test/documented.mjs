// Helm commands in the documentation that change a release.
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = [
  '',
  'docs/',
  'deploy/charts/data/',
  'deploy/charts/platform/',
  'deploy/envs/',
  'deploy/runbooks/',
];

/** The commands of a file that change a release: lines, or code spans. */
function commandsOf(text) {
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  const lines = Array.from(joined.matchAll(/^(?:#?\s*)(helm .*)$/gm), ([, line]) => line);
  const spans = Array.from(joined.matchAll(/(?<!`)`(helm [^`]+)`(?!`)/g), ([, span]) => span);
  return [...lines, ...spans]
    .map((command) => command.replaceAll(/\s+#.*$/g, '').replaceAll(/\s+/g, ' '))
    .filter((command) => /\b(install|upgrade|rollback) svc/.test(command));
}

/** Each command with its file. */
export async function documented() {
  const found = [];
  for (const folder of FOLDERS) {
    const names = (await readdir(ROOT + folder)).filter((name) => /\.(md|yaml)$/.test(name));
    for (const name of names) {
      const commands = commandsOf(await readFile(ROOT + folder + name, 'utf8'));
      found.push(...commands.map((command) => [folder + name, command]));
    }
  }
  return found;
}
