import { z } from 'zod';

/** What shows who signs in: an API key, a message signed by a wallet, or the secret of a link. */
export const ConsoleProof = z.union([
  z.strictObject({ apiKey: z.string().min(1).max(200) }),
  z.strictObject({ message: z.string().min(1).max(8_192), signature: z.string().min(1).max(8_192) }),
  z.strictObject({ link: z.string().min(1).max(200) }),
]);

export const ConsoleChallengeRequest = z.strictObject({
  address: z.string().min(1).max(64).describe('Of the wallet that will sign.'),
});

export const ConsoleChallenge = z.object({
  message: z.string().describe('The text to sign, as it is.'),
  expiresAt: z.iso.datetime(),
});

export const ConsoleSession = z.object({
  id: z.uuid(),
  kind: z.enum(['admin', 'inference', 'wallet']),
  accountId: z.uuid(),
  apiKey: z
    .object({ id: z.uuid(), last6Chars: z.string(), description: z.string() })
    .nullable()
    .describe('The key that signed in.'),
  wallet: z.string().nullable().describe('The wallet that signed in.'),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime().describe('Within a minute.'),
  expiresAt: z.iso.datetime().describe('It ends earlier if it is not used for an hour.'),
  provenAt: z.iso.datetime().describe('When its key or wallet was last proven.'),
  network: z.string(),
  agent: z.string(),
  isCurrent: z.boolean(),
});

export const ConsoleSessionReply = z.object({ data: ConsoleSession });
export const CurrentConsoleSession = z.object({
  data: ConsoleSession.nullable().describe('Null for a browser without a session.'),
});
export const ConsoleSessionList = z.object({ object: z.literal('list'), data: z.array(ConsoleSession) });
export const ConsoleSessionEnded = z.object({ success: z.literal(true) });
export const ConsoleSessionParams = z.object({ id: z.uuid() });
export const ConsolePageParams = z.object({ page: z.string().max(200) });

export type ConsoleProof = z.infer<typeof ConsoleProof>;
export type ConsoleChallengeRequest = z.infer<typeof ConsoleChallengeRequest>;
export type ConsoleChallenge = z.infer<typeof ConsoleChallenge>;
export type ConsoleSession = z.infer<typeof ConsoleSession>;
export type ConsoleSessionReply = z.infer<typeof ConsoleSessionReply>;
export type CurrentConsoleSession = z.infer<typeof CurrentConsoleSession>;
export type ConsoleSessionList = z.infer<typeof ConsoleSessionList>;
export type ConsoleSessionEnded = z.infer<typeof ConsoleSessionEnded>;
