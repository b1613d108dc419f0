// Asks a provider by its own client, streamed, and prints what that reads: `node read.mjs KIND URL [TOOL]`.
import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const [kind, url, tool] = process.argv.slice(2);
const about = { name: tool, description: 'A tool' };

async function gemini() {
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } });
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

process.stdout.write(JSON.stringify(await { gemini, bedrock }[kind]()));
