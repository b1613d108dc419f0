import { Problem } from '@svc/contracts/problems';
import { boundedJson } from '@svc/runtime';
import { z } from 'zod';
import { SIGN_IN_CHAINS } from './sign-in-chains.js';
import { type SignInMessage, messageText, readMessage } from './sign-in-message.js';

/** Characters of the header. The sign-in of a smart wallet that is not deployed yet has a few thousand. */
const HEADER_MOST = 12_288;

/**
 * The most by which the timestamp of a payload may differ from its message's. Source: the public interface.
 */
const TIMESTAMP_SLACK_MS = 30_000;

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Text on one line: a line feed would let one part contain others. */
const Line = z
  .string()
  .max(2_048)
  .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), 'must be a single line');

const Shared = z.object({
  address: Line,
  signature: z.string().max(8_192),
  chainId: z.union([z.string().max(128), z.int()]).optional(),
  type: z.string().max(32).optional(),
  timestamp: z.union([z.int(), z.string().regex(/^\d{1,16}$/)]).optional(),
});

/** Either the text itself, or its parts. */
const Payload = z.union([
  Shared.extend({ message: z.string().max(8_192) }),
  Shared.extend({
    chainId: z.union([z.string().max(128), z.int()]),
    domain: Line,
    statement: Line.optional(),
    uri: Line,
    version: Line,
    nonce: Line.optional(),
    issuedAt: Line,
    expirationTime: Line.optional(),
    notBefore: Line.optional(),
    requestId: Line.optional(),
    resources: z.array(Line).max(50).optional(),
  }),
]);
type Payload = z.infer<typeof Payload>;

/** The contents of a sign-in header, not yet verified. */
export interface SignIn {
  /** The exact text that was signed. */
  readonly text: string;
  readonly message: SignInMessage;
  readonly signature: string;
}

/**
 * Parses a sign-in header in either of the formats that clients send. Refuses with the codes of a sign-in.
 */
export function readSignIn(header: string): SignIn {
  return signInOf(payloadOf(header));
}

/** Parses a signed message that comes by itself. Refuses with the codes of a sign-in. */
export function readSignedMessage(signed: { readonly message: string; readonly signature: string }): SignIn {
  const { address } = readMessage(signed.message);
  return signInOf({ ...signed, address });
}

function signInOf(payload: Payload): SignIn {
  const text = 'message' in payload ? payload.message : textOf(payload);
  const message = readMessage(text);
  const { address, timestamp } = payload;
  if (message.address.toLowerCase() !== address.toLowerCase())
    throw new Problem('X402_SIGN_IN_ADDRESS_MISMATCH');
  checkChains(payload, message);
  if (timestamp !== undefined && Math.abs(Number(timestamp) - message.issuedAtMs) > TIMESTAMP_SLACK_MS)
    throw new Problem('X402_SIGN_IN_TIMESTAMP_MISMATCH');
  return { text, message, signature: payload.signature };
}

function payloadOf(header: string): Payload {
  if (header.length > HEADER_MOST)
    throw new Problem('X402_SIGN_IN_INVALID_PAYLOAD', { message: 'The sign-in header is too long.' });
  if (!BASE64.test(header)) throw new Problem('X402_SIGN_IN_PARSE_ERROR');
  const read = Payload.safeParse(jsonOf(header));
  if (read.success) return read.data;
  throw new Problem('X402_SIGN_IN_INVALID_PAYLOAD', { cause: read.error });
}

function jsonOf(base64: string): unknown {
  try {
    return boundedJson(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64')));
  } catch (error) {
    throw new Problem('X402_SIGN_IN_PARSE_ERROR', { cause: error });
  }
}

function textOf(payload: Exclude<Payload, { message: string }>): string {
  const chain = chainOf(payload.chainId);
  if (!chain) throw new Problem('X402_SIGN_IN_UNSUPPORTED_CHAIN');
  const { nonce } = payload;
  if (nonce === undefined || nonce === '') throw new Problem('X402_SIGN_IN_MISSING_NONCE');
  const [, reference = ''] = chain.network.split(':');
  return messageText(chain.kind, { ...payload, nonce }, reference);
}

/** The chain in the payload must be the one in the signed message. */
function checkChains({ chainId, type }: Payload, message: SignInMessage): void {
  const signed = chainOf(message.chainId);
  if (!signed) throw new Problem('X402_SIGN_IN_UNSUPPORTED_CHAIN');
  const named = chainId === undefined ? signed : chainOf(chainId);
  // Other types than those of the chains are of EVM wallets: an `eip1271` is verified like an `eip191`.
  const typed =
    type === undefined ? message.kind : (SIGN_IN_CHAINS.find((chain) => chain.type === type)?.kind ?? 'evm');
  if (named !== signed || signed.kind !== message.kind || typed !== message.kind)
    throw new Problem('X402_SIGN_IN_CHAIN_MISMATCH');
}

/** The chain with this id, if wallets sign in on it. Refuses: X402_SIGN_IN_INVALID_CHAIN_ID. */
function chainOf(chainId: string | number): (typeof SIGN_IN_CHAINS)[number] | undefined {
  const text = String(chainId);
  if (
    !/^(?:(?:eip155:)?\d{1,20}|(?:solana:)?[1-9A-HJ-NP-Za-km-z]{1,44}|solana(?::mainnet)?|mainnet)$/.test(
      text,
    )
  )
    throw new Problem('X402_SIGN_IN_INVALID_CHAIN_ID');
  return SIGN_IN_CHAINS.find(({ names }) => names.includes(text));
}
