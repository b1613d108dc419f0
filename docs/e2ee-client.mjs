// An encrypted chat with node:crypto alone:
//   SVC_API_KEY=… node docs/e2ee-client.mjs [--accept-simulated] e2ee-sim-3b "Why is the sky blue?"
import { createCipheriv, createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

const API = process.env.SVC_URL ?? 'http://127.0.0.1:3000/api/v1';
const args = process.argv.slice(2);
const acceptsSimulated = args.includes('--accept-simulated');
const [model, prompt] = args.filter((arg) => !arg.startsWith('--'));

/** Keccak-256, from which the address of a key derives. SHA-3 of node:crypto pads differently. */
function keccak256(message) {
  const RATE = 136;
  const MASK = (1n << 64n) - 1n;
  const rotate = (lane, by) => ((lane << by) | (lane >> (64n - by))) & MASK;
  const padded = Buffer.alloc(Math.ceil((message.length + 1) / RATE) * RATE);
  padded.set(message);
  padded[message.length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  let state = Array.from({ length: 25 }, () => 0n);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let lane = 0; lane < RATE / 8; lane += 1) state[lane] ^= padded.readBigUInt64LE(block + lane * 8);
    let bits = 1;
    for (let round = 0; round < 24; round += 1) {
      const parity = [0, 1, 2, 3, 4].map((x) =>
        [0, 5, 10, 15, 20].reduce((all, y) => all ^ state[x + y], 0n),
      );
      state = state.map((lane, at) => lane ^ parity[(at + 4) % 5] ^ rotate(parity[(at + 1) % 5], 1n));
      let [x, y, moved] = [1, 0, state[1]];
      for (let step = 1; step <= 24; step += 1) {
        [x, y] = [y, (2 * x + 3 * y) % 5];
        [moved, state[x + 5 * y]] = [state[x + 5 * y], rotate(moved, BigInt(((step * (step + 1)) / 2) % 64))];
      }
      state = state.map((lane, at) => {
        const row = at - (at % 5);
        return lane ^ (~state[row + ((at + 1) % 5)] & MASK & state[row + ((at + 2) % 5)]);
      });
      for (let power = 0; power < 7; power += 1) {
        bits = ((bits << 1) ^ ((bits >> 7) * 0x71)) & 0xff;
        if (bits & 2) state[0] ^= 1n << ((1n << BigInt(power)) - 1n);
      }
    }
  }
  return Buffer.from(new BigUint64Array(state.slice(0, 4)).buffer);
}

function demand(condition, otherwise) {
  if (!condition) throw new Error(`refused: ${otherwise}`);
}

function newPair() {
  const pair = createECDH('secp256k1');
  return Object.assign(pair, { publicKey: pair.generateKeys() });
}

const keyBetween = (pair, publicKey) =>
  Buffer.from(hkdfSync('sha256', pair.computeSecret(publicKey), '', 'ecdsa_encryption', 32));

function seal(text, publicKey) {
  const own = newPair();
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyBetween(own, publicKey), nonce);
  const parts = [own.publicKey, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(parts).toString('hex');
}

function open(hex, pair) {
  demand(/^04[0-9a-f]{184,}$/i.test(hex), 'the response is not encrypted');
  const bytes = Buffer.from(hex, 'hex');
  const key = keyBetween(pair, bytes.subarray(0, 65));
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(65, 77));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(77, -16)), decipher.final()]).toString('utf8');
}

/** The key of an enclave. Intel's signature of the quote is not checked here: see docs/e2ee.md. */
async function attest() {
  const nonce = randomBytes(32);
  const query = new URLSearchParams({ model, nonce: nonce.toString('hex') });
  const response = await fetch(`${API}/tee/attestation?${query}`);
  const report = await response.json();
  demand(response.ok, report.error?.message);
  const key = Buffer.from(report.signing_key, 'hex');
  const quote = Buffer.from(report.intel_quote, 'hex');
  demand(quote.length >= 632 && quote.readUInt32LE(4) === 0x81, 'the quote is not one of TDX');
  demand(quote.subarray(600, 632).equals(nonce), 'the quote is an older one');
  const address = keccak256(key.subarray(1)).subarray(12);
  demand(quote.subarray(568, 588).equals(address), 'the quote is for another key');
  const isProtected = (quote[168] & 1) === 0 && report.verified && !report.simulated;
  demand(isProtected || acceptsSimulated, 'the enclave is simulated or in debug mode, and protects nothing');
  return key;
}

const modelKey = await attest();
const own = newPair();
const messages = [{ role: 'user', content: seal(prompt, modelKey) }];
const response = await fetch(`${API}/chat/completions`, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${process.env.SVC_API_KEY}`,
    'content-type': 'application/json',
    'x-svc-tee-client-pub-key': own.publicKey.toString('hex'),
    'x-svc-tee-model-pub-key': modelKey.toString('hex'),
    'x-svc-tee-signing-algo': 'ecdsa',
  },
  body: JSON.stringify({ model, stream: true, messages }),
});
if (!response.ok) throw new Error(await response.text());
let text = '';
for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (text + bytes).split('\n');
  text = lines.pop();
  for (const line of lines.filter((each) => each.startsWith('data: {'))) {
    const { error, choices = [] } = JSON.parse(line.slice('data: '.length));
    demand(!error, error?.message);
    for (const { delta } of choices)
      if (delta.content?.trim()) process.stdout.write(open(delta.content, own));
  }
}
process.stdout.write('\n');
