// Asks a provider by its own client, streamed, and prints what that reads: `node read.mjs KIND URL [TOOL]`.
import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { OAuth2Client } from 'google-auth-library';

const [kind, url, tool] = process.argv.slice(2);
const about = { name: tool, description: 'A tool' };

const gemini = () => google({ apiKey: 'key', httpOptions: { baseUrl: url } });

/** With a token that it has already. */
function vertex() {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: 'token', expiry_date: Date.now() + 3_600_000 });
  const at = { vertexai: true, project: 'p', location: 'l' };
  const httpOptions = { baseUrl: url, apiVersion: 'v1' };
  return google({ ...at, httpOptions, googleAuthOptions: { authClient } });
}

async function google(options) {
  const client = new GoogleGenAI(options);
  const schema = { type: 'object', properties: {} };
  const stream = await client.models.generateContentStream({
    model: 'm',
    contents: 'Hi',
    config: tool
      ? { tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: schema }] }] }
      : undefined,
  });
  const read = { text: '', calls: [], usage: [] };
  for await (const { candidates = [], usageMetadata: usage } of stream) {
    for (const { text = '', functionCall: call } of candidates[0]?.content?.parts ?? []) {
      read.text += text;
      if (call) read.calls.push({ name: call.name, input: call.args });
    }
    if (usage) read.usage = [usage.promptTokenCount, usage.candidatesTokenCount];
  }
  return read;
}

async function bedrock() {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
  // By default it speaks HTTP/2 only.
  const requestHandler = new NodeHttpHandler();
  const client = new BedrockRuntimeClient({
    region: 'eu-central-1',
    endpoint: url,
    credentials,
    requestHandler,
  });
  const command = new ConverseStreamCommand({
    modelId: 'm',
    messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    toolConfig: tool
      ? { tools: [{ toolSpec: { ...about, inputSchema: { json: { type: 'object' } } } }] }
      : undefined,
  });
  const read = { text: '', calls: [], usage: [] };
  const inputs = [];
  for await (const event of (await client.send(command)).stream) {
    const { contentBlockStart: start, contentBlockDelta: delta, metadata } = event;
    if (start?.start?.toolUse) read.calls.push({ name: start.start.toolUse.name });
    read.text += delta?.delta?.text ?? '';
    if (delta?.delta?.toolUse) inputs.push(delta.delta.toolUse.input);
    if (metadata) read.usage = [metadata.usage.inputTokens, metadata.usage.outputTokens];
  }
  return { ...read, calls: read.calls.map((call, at) => ({ ...call, input: JSON.parse(inputs[at]) })) };
}

process.stdout.write(JSON.stringify(await { gemini, vertex, bedrock }[kind]()));
