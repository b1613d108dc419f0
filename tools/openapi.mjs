// Writes the published OpenAPI description that is under version control; `--check` fails if it is stale.
// Needs the build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Document, isPair, isScalar, visit } from 'yaml';
import { openApiDocument } from '@svc/openapi';

const path = 'libs/openapi/openapi.yaml';
const file = join(import.meta.dirname, '..', path);

/** A placeholder version, so that the file changes only with the API. */
const version = '19700101.000000';

/** A list or an object of at most this length, without others in it, is written on one line. */
const ONE_LINE_CHARACTERS = 90;

const document = new Document(openApiDocument({ audience: 'public', version }), {
  aliasDuplicateObjects: false,
  // YAML 1.1 parsers would read a plain `off` as false.
  compat: 'yaml-1.1',
});
const isPlain = (item) => isScalar(isPair(item) ? item.value : item);
visit(document, {
  Collection(_key, node) {
    const isShort = JSON.stringify(node).length <= ONE_LINE_CHARACTERS;
    node.flow = isShort && node.items.every(isPlain);
  },
});
const text = document.toString({ lineWidth: 0, flowCollectionPadding: true });

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.log(`${path}: does not match the code; update it with: npm run openapi`);
  process.exitCode = 1;
}
