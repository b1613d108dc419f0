// Bundles the console, the pages that the gateway serves to browsers, into libs/console/dist: `index.html`,
// and scripts and a style sheet in `assets`, each with a hash of its content in its name.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const source = join(root, 'libs/console/src');
const folder = join(root, 'libs/console/dist');

/** Where the gateway serves the assets. */
const ASSETS = '/console/assets';

/** The files that the style sheet and the page are made of, in addition to the compiled code. */
export const consoleSources = ['index.html', 'style.css'].map((name) => `libs/console/src/${name}`);

/** The style sheet without comments and indentation. */
const styleSheet = () =>
  readFileSync(join(source, 'style.css'), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\n\s*/g, '\n')
    .trim();

async function writeScripts() {
  const bundle = await rolldown({
    cwd: root,
    input: { main: join(source, 'main.tsx') },
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.tsx', '.ts', '.js'] } },
    // The contracts declare schemas beside the functions that the console uses.
    treeshake: { moduleSideEffects: [{ test: /\/libs\/contracts\//, sideEffects: false }] },
  });
  const { output } = await bundle.write({
    dir: join(folder, 'assets'),
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
    comments: false,
  });
  await bundle.close();
  return output.find(({ isEntry }) => isEntry);
}

/** Writes the page and its assets, and removes those of earlier builds. */
export async function writeConsole() {
  rmSync(join(folder, 'assets'), { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const main = await writeScripts();
  const styles = styleSheet();
  const hash = createHash('sha256').update(styles).digest('base64url').slice(0, 8);
  writeFileSync(join(folder, 'assets', `style-${hash}.css`), styles);
  const links = [
    `<link rel="stylesheet" href="${ASSETS}/style-${hash}.css" />`,
    ...main.imports.map((name) => `<link rel="modulepreload" href="${ASSETS}/${name}" />`),
    `<script type="module" src="${ASSETS}/${main.fileName}"></script>`,
  ];
  const page = readFileSync(join(source, 'index.html'), 'utf8');
  writeFileSync(
    join(folder, 'index.html'),
    page.replace('<!-- assets -->', () => links.join('\n    ')),
  );
}
