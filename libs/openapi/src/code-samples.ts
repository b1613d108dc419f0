import type { z } from 'zod';
import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { EXAMPLES } from './openapi-examples.js';
import { PUBLIC_BASE } from './introduction.js';
import { isObject } from './json-schema.js';
import { SAMPLE_BODIES, type SampleBody } from './sample-bodies.js';

/** How a request is sent, in several languages. */
interface CodeSamples {
  readonly curl: string;
  readonly python: string;
  readonly javascript: string;
}

interface SampleRequest extends SampleBody {
  readonly method: string;
  readonly url: string;
  readonly hasKey: boolean;
  /** Whether the response is JSON, a text or a file. */
  readonly returns: 'json' | 'text' | 'file';
}

const ID = '0199f3a1-c2d3-7b8e-9f00-0123456789ab';

/** Values of the parameters of paths, and of those of queries that are required. */
const PARAMETERS: Readonly<Record<string, string>> = {
  model: 'llama-3.2-3b',
  slug: 'ada',
  network: 'base-mainnet',
  user: 'user-1',
  id: ID,
  deliveryId: ID,
  file_id: 'file-0199f3a1c2d37b8e',
  batch_id: 'batch_0199f3a1c2d37b8e',
  message_batch_id: 'msgbatch_0199f3a1c2d37b8e',
  request_id: 'chatcmpl-0199f3a1c2d37b8e',
  walletAddress: '0x52908400098527886E0F7030069857D2E4169EE7',
};

/** The samples of each operation for clients, by its id, for an API at this address. */
export function codeSamples(base: string): Readonly<Record<string, CodeSamples>> {
  const described = Object.values<RouteDefinition>(routes).filter(({ path }) =>
    path.startsWith(`${PUBLIC_BASE}/`),
  );
  return Object.fromEntries(
    described.map((route) => {
      const request = requestOf(route, base);
      return [
        route.operationId,
        { curl: curl(request), python: python(request), javascript: javascript(request) },
      ];
    }),
  );
}

function requestOf(route: RouteDefinition, base: string): SampleRequest {
  const { method, path, query, access, operationId } = route;
  const filled = path.replaceAll(/:(\w+)|\*/g, (_all, name?: string) => PARAMETERS[name ?? 'model'] ?? '');
  const shape = (query as { shape: Readonly<Record<string, z.ZodType>> } | undefined)?.shape ?? {};
  const required = Object.entries(shape).flatMap(([name, field]) =>
    field.safeParse(undefined).success ? [] : [`${name}=${encodeURIComponent(PARAMETERS[name] ?? '')}`],
  );
  return {
    method,
    url: base + filled + (required.length > 0 ? `?${required.join('&')}` : ''),
    hasKey: access !== 'public',
    returns: returnsOf(route),
    ...(SAMPLE_BODIES[operationId] ?? exampleOf(operationId)),
  };
}

function exampleOf(operationId: string): SampleBody {
  const [example] = Object.values(EXAMPLES[operationId]?.request ?? {});
  return isObject(example?.value) ? { json: example.value } : {};
}

function returnsOf({ replyType, fileTypes }: RouteDefinition): SampleRequest['returns'] {
  if (replyType === undefined) return fileTypes ? 'file' : 'json';
  return /^(?:text|application\/(?:yaml|x-ndjson))/.test([replyType].flat()[0] ?? '') ? 'text' : 'file';
}

const jsonText = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** The lines of a text after the first one, moved to the right. */
const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

function curl({ method, url, hasKey, json, fields, files, returns }: SampleRequest): string {
  const hasForm = fields !== undefined || files !== undefined;
  const isImplied = method === 'GET' || (method === 'POST' && (hasForm || json !== undefined));
  const parts = [
    `curl ${isImplied ? '' : `-X ${method} `}"${url}"`,
    ...(hasKey ? ['-H "Authorization: Bearer $SVC_API_KEY"'] : []),
    ...(json
      ? ['-H "Content-Type: application/json"', `-d '${jsonText(json).replaceAll("'", String.raw`'\''`)}'`]
      : []),
    ...Object.entries(fields ?? {}).map(([name, value]) => `-F ${name}="${value}"`),
    ...Object.entries(files ?? {}).map(([name, path]) => `-F ${name}=@${path}`),
    ...(returns === 'file' ? ['-o result'] : []),
  ];
  return parts.join(' \\\n  ');
}

/** A value as Python writes it. */
function pythonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonOf(each)}`);
    return `{${members.join(', ')}}`;
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null || value === undefined ? 'None' : JSON.stringify(value);
}

/** The members of the outermost object are on lines of their own. */
function pythonLines(value: object): string {
  const lines = Object.entries(value).map(
    ([name, each]) => `    ${JSON.stringify(name)}: ${pythonOf(each)},`,
  );
  return `{\n${lines.join('\n')}\n}`;
}

function python({ method, url, hasKey, json, fields, files, returns }: SampleRequest): string {
  const opened = Object.entries(files ?? {}).map(([name, path]) => `"${name}": open("${path}", "rb")`);
  const parts = [
    JSON.stringify(url),
    ...(hasKey ? [`headers={"Authorization": f"Bearer {os.environ['SVC_API_KEY']}"}`] : []),
    ...(json ? [`json=${indented(pythonLines(json), '    ')}`] : []),
    ...(fields ? [`data=${pythonOf(fields)}`] : []),
    ...(opened.length > 0 ? [`files={${opened.join(', ')}}`] : []),
  ];
  const result = {
    json: 'print(response.json())',
    text: 'print(response.text)',
    file: 'open("result", "wb").write(response.content)',
  }[returns];
  return `${hasKey ? 'import os\n' : ''}import requests

response = requests.${method.toLowerCase()}(
${parts.map((part) => `    ${part},`).join('\n')}
)
response.raise_for_status()
${result}`;
}

function javascript({ method, url, hasKey, json, fields, files, returns }: SampleRequest): string {
  const form = [
    ...Object.entries(fields ?? {}).map(([name, value]) => `form.append('${name}', '${value}');`),
    ...Object.entries(files ?? {}).map(
      ([name, path]) => `form.append('${name}', await openAsBlob('${path}'), '${path}');`,
    ),
  ];
  const headers = [
    ...(hasKey ? ['Authorization: `Bearer ${process.env.SVC_API_KEY}`'] : []),
    ...(json ? ["'Content-Type': 'application/json'"] : []),
  ];
  const init = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(json ? [`body: JSON.stringify(${indented(jsonText(json), '  ')})`] : []),
    ...(form.length > 0 ? ['body: form'] : []),
  ];
  const imports = [...(files ? ['openAsBlob'] : []), ...(returns === 'file' ? ['writeFileSync'] : [])];
  const result = {
    json: 'console.log(await response.json());',
    text: 'console.log(await response.text());',
    file: "writeFileSync('result', Buffer.from(await response.arrayBuffer()));",
  }[returns];
  const options = init.length > 0 ? `, {\n${init.map((each) => `  ${each},`).join('\n')}\n}` : '';
  return [
    ...(imports.length > 0 ? [`import { ${imports.join(', ')} } from 'node:fs';\n`] : []),
    ...(form.length > 0 ? ['const form = new FormData();', ...form] : []),
    `const response = await fetch('${url}'${options});`,
    'if (!response.ok) throw new Error(await response.text());',
    result,
  ].join('\n');
}
