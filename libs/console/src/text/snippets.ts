/** Where clients send their requests. */
const baseUrl = (): string => `${location.origin}/api/v1`;

export interface SampleCall {
  /** The key as text, or the variable that holds it. */
  readonly apiKey: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const json = (value: unknown, indent = ''): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);

/** A text in single quotes for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const curlOf = ({ apiKey, body }: SampleCall): string => `curl ${baseUrl()}/chat/completions \\
  -H "Authorization: Bearer ${apiKey}" \\
  -H "Content-Type: application/json" \\
  -d ${quoted(json(body))}`;

export const scriptOf = ({ apiKey, body }: SampleCall): string => {
  const isStreamed = body['stream'] === true;
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl()}', apiKey: '${apiKey}' });
const ${isStreamed ? 'stream' : 'completion'} = await client.chat.completions.create(${json(body)});
${
  isStreamed
    ? `for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`
    : 'console.log(completion.choices[0].message.content);'
}`;
};

/** JSON as Python writes it: the words for true, false and null differ. */
export function pythonOf(value: unknown, indent = ''): string {
  const deeper = `${indent}    `;
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${value.map((item) => `${deeper}${pythonOf(item, deeper)},\n`).join('')}${indent}]`;
  const entries = Object.entries(value).map(
    ([name, item]) => `${deeper}${JSON.stringify(name)}: ${pythonOf(item, deeper)},\n`,
  );
  return entries.length === 0 ? '{}' : `{\n${entries.join('')}${indent}}`;
}

/** The parameters that the Python client has itself; it passes others in `extra_body`. */
const PYTHON_PARAMETERS = new Set(
  'model messages stream temperature top_p max_completion_tokens tools reasoning_effort'.split(' '),
);

export const pythonCallOf = ({ apiKey, body }: SampleCall): string => {
  const isStreamed = body['stream'] === true;
  const entries = Object.entries(body);
  const own = entries.filter(([name]) => PYTHON_PARAMETERS.has(name));
  const others = entries.filter(([name]) => !PYTHON_PARAMETERS.has(name));
  const all = others.length === 0 ? own : [...own, ['extra_body', Object.fromEntries(others)] as const];
  const parameters = all.map(([name, value]) => `    ${name}=${pythonOf(value, '    ')},\n`).join('');
  return `from openai import OpenAI

client = OpenAI(base_url="${baseUrl()}", api_key="${apiKey}")
${isStreamed ? 'stream' : 'completion'} = client.chat.completions.create(
${parameters})
${
  isStreamed
    ? `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
    : 'print(completion.choices[0].message.content)'
}`;
};

/** `~/.codex/config.toml`. */
export const codexOf = (model: string): string => `# ~/.codex/config.toml; the key in SVC_API_KEY
model = "${model}"
model_provider = "svc"

[model_providers.svc]
name = "svc"
base_url = "${baseUrl()}"
env_key = "SVC_API_KEY"
wire_api = "responses"`;

/** The client adds `/v1/messages` to its base URL. */
export const claudeCodeOf = (
  model: string,
  apiKey: string,
): string => `export ANTHROPIC_BASE_URL=${location.origin}/api
export ANTHROPIC_AUTH_TOKEN=${apiKey}
export ANTHROPIC_MODEL=${model}
claude`;
