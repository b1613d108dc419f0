import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { openGenerators, openPython } from './environments.js';

const TOOL_MS = 300_000;

const COMPILE = ['--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022'];

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { type?: unknown; properties?: unknown }>>;
  };
}

const python = await openPython();
const generators = await openGenerators();

let platform: Platform;
let folder: string;

beforeAll(async () => {
  platform = await Platform.start();
  folder = await mkdtemp(join(tmpdir(), 'svc-description-'));
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  for (const [name, response] of [
    ['public', await fetch(`${platform.apiUrl}/openapi.yaml`)],
    ['operator', await fetch(`${platform.operatorUrl}/openapi.yaml`, { headers })],
  ] as const)
    await writeFile(fileOf(name), await response.text());
});

afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

const fileOf = (name: string, ending = 'yaml'): string => join(folder, `${name}.${ending}`);

describe.each(['public', 'operator'])('the served %s description', (name) => {
  it(
    "passes redocly's linter without a warning",
    async () => {
      const { stdout, stderr, code } = await generators.run(
        'redocly',
        ['lint', fileOf(name), '--extends=recommended', '--format=json'],
        { deadlineMs: TOOL_MS },
      );
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect((JSON.parse(stdout) as { problems: unknown[] }).problems).toEqual([]);
    },
    TOOL_MS,
  );

  it(
    'generates types with openapi-typescript that compile',
    async () => {
      const types = fileOf(name, 'ts');
      const made = await generators.run('openapi-typescript', [fileOf(name), '-o', types], {
        deadlineMs: TOOL_MS,
      });
      expect(made).toMatchObject({ code: 0 });
      const compiled = await generators.run('tsc', [...COMPILE, types], { deadlineMs: TOOL_MS });
      expect(compiled).toMatchObject({ stdout: '', code: 0 });
    },
    TOOL_MS,
  );

  it.skipIf(!python)('is read the same by YAML 1.1 and YAML 1.2 parsers', async () => {
    const read = await python?.run('python', ['read_yaml.py', fileOf(name)], { deadlineMs: TOOL_MS });
    expect(JSON.parse(read?.stdout ?? '')).toEqual(parse(await readFile(fileOf(name), 'utf8')));
  });

  it.skipIf(!python)(
    'generates a Python client with a class for every object schema',
    async () => {
      const out = join(folder, name, 'generated');
      const args = ['generate', '--path', fileOf(name), '--output-path', out, '--meta', 'none'];
      const config = ['--config', 'openapi_python_client.yaml'];
      await mkdir(join(folder, name));
      const made = await python?.run('openapi-python-client', [...args, ...config], { deadlineMs: TOOL_MS });
      expect(made).toMatchObject({ code: 0 });
      expect(made?.stdout.trim()).toMatch(/^Generating [^\n]+$/);
      const output = await python?.run(
        'python',
        [
          'generated_client.py',
          name,
          join(folder, name),
          name === 'public' ? platform.apiUrl : platform.rootUrl,
        ],
        { deadlineMs: TOOL_MS },
      );
      expect(output).toMatchObject({ code: 0 });
      const { models, ids } = JSON.parse(output?.stdout ?? '') as Record<string, string[]>;
      expect(ids).toEqual(name === 'public' ? ['test-model'] : ['ok']);
      const { components } = parse(await readFile(fileOf(name), 'utf8')) as Document;
      const objects = Object.entries(components.schemas).filter(([, { properties }]) => properties);
      expect(objects.map(([schema]) => schema).filter((schema) => !models?.includes(schema))).toEqual([]);
    },
    TOOL_MS,
  );
});
