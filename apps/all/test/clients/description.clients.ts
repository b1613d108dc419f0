import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { sellerOn } from '../buyers.js';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { openGenerators, openPython } from './environments.js';

const TOOL_MS = 300_000;

/** A description has no contact: each operator has another one. */
const SPECTRAL_RULES = 'extends: spectral:oas\nrules: { info-contact: off }\n';

const COMPILE = ['--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022'];

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { type?: unknown; properties?: unknown }>>;
  };
}

const python = await openPython();
const { tools: generators, folder: generatorsFolder } = await openGenerators();

let chain: LocalChain;
let platform: Platform;
let folder: string;

beforeAll(async () => {
  chain = await LocalChain.start();
  platform = await Platform.start({ env: (await sellerOn(chain)).env });
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
  await chain?.stop();
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

it.each(['public', 'operator'])(
  "the served %s description passes Spectral's linter without a finding of any severity",
  async (name) => {
    await writeFile(fileOf('spectral'), SPECTRAL_RULES);
    await generators.run(
      'spectral',
      [
        'lint',
        fileOf(name),
        '--ruleset',
        fileOf('spectral'),
        '--format',
        'json',
        '--output',
        fileOf('findings'),
      ],
      { deadlineMs: TOOL_MS },
    );
    const findings = JSON.parse(await readFile(fileOf('findings'), 'utf8')) as {
      code: string;
      path: string[];
      message: string;
    }[];
    expect(findings.map(({ code, path, message }) => [code, path.join('.'), message])).toEqual([]);
  },
  TOOL_MS,
);

it(
  'is enough for an SDK of generated types to send every header that the pages name, and to read what they describe',
  async () => {
    const program = join(folder, 'sdk.mjs');
    await copyFile(join(generatorsFolder, 'sdk.mjs'), program);
    await symlink(join(generatorsFolder, 'node_modules'), join(folder, 'node_modules'));
    const options = ['--allowJs', '--checkJs', '--allowImportingTsExtensions', '--module', 'nodenext'];
    await generators.run('openapi-typescript', [fileOf('public'), '-o', fileOf('public', 'ts')], {
      deadlineMs: TOOL_MS,
    });
    const compiled = await generators.run(
      'tsc',
      ['--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022,dom,dom.iterable', ...options, program],
      { deadlineMs: TOOL_MS },
    );
    expect(compiled).toMatchObject({ stdout: '', code: 0 });
    const { apiKey } = await platform.account('1.00');
    const { stdout } = await promisify(execFile)(process.execPath, [program, platform.apiUrl, apiKey]);
    const seen = JSON.parse(stdout) as Record<string, unknown>;
    expect(seen).toEqual({
      id: seen['repeated'],
      repeated: expect.stringMatching(/./) as string,
      isReplayed: 'true',
      text: 'string',
      tokens: 'number',
      costUsd: 'number',
      unpaid: 402,
      unreadable: 400,
      encrypted: 400,
      job: 'MODEL_NOT_FOUND',
      model: 'test-model',
      privacy: 'private',
    });
  },
  TOOL_MS,
);
