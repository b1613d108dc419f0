// An encrypted chat with an unmodified client library. It prints one line of JSON: the response, or why the
// library refused. The library leaves the request to its user, who gives its headers their names here.
import { createVeniceE2EE } from 'venice-e2ee';

const [baseUrl, model] = process.argv.slice(2);
const { SVC_API_KEY: apiKey = '' } = process.env;

const MESSAGES = [
  { role: 'system', content: 'You are terse.' },
  { role: 'assistant', content: 'Hello.' },
  { role: 'user', content: 'Say exactly "naïve 🙂 answer of a few words"' },
];

async function ask() {
  const client = createVeniceE2EE({ apiKey, baseUrl });
  const session = await client.createSession(model);
  const { encryptedMessages, headers } = await client.encrypt(MESSAGES, session);
  const named = Object.entries(headers).map(([name, value]) => [name.replace('X-Venice-', 'X-SVC-'), value]);
  const response = await fetch(`${baseUrl}/api/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...Object.fromEntries(named),
      'content-type': 'application/json',
      authorization: `Bearer ${apiKey}`,
    },
    body: JSON.stringify({
      model,
      stream: true,
      messages: encryptedMessages,
      venice_parameters: { enable_e2ee: true },
    }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  let text = '';
  for await (const piece of client.decryptStream(response.body, session)) text += piece;
  const isPlain = encryptedMessages.some(({ content }, at) => content.includes(MESSAGES[at].content));
  return { text, isPlain };
}

const outcome = await ask().catch((error) => ({ refusal: String(error) }));
process.stdout.write(`${JSON.stringify(outcome)}\n`);
