import { type UnauthorizedCall, hasParts } from '@svc/backend-calls';
import { AwsSigner } from '@svc/runtime/aws';
import { z } from 'zod';
import { readSecret, unusableSecret } from './tokens.js';

const SignKeys = z.object({
  accessKeyId: z.string().min(1),
  secretAccessKey: z.string().min(1),
  sessionToken: z.string().min(1).optional(),
  /** Default: that in the host. */
  region: z
    .string()
    .regex(/^[a-z\d-]+$/)
    .optional(),
});

const HOST = /^bedrock-runtime(?:-fips)?\.(?<region>[a-z\d-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** The headers of a call of Bedrock: a key as a bearer token, or the signature by an access key. */
export async function bedrockHeaders({ key, ...call }: UnauthorizedCall): Promise<Record<string, string>> {
  if (key === undefined) throw unusableSecret('is not set');
  if (!hasParts(key)) return { authorization: `Bearer ${key}` };
  const {
    region: given,
    sessionToken,
    ...keys
  } = readSecret(SignKeys, key, 'an object with accessKeyId and secretAccessKey');
  const base = new URL(call.origin);
  const region = given ?? HOST.exec(base.hostname)?.groups?.['region'];
  if (region === undefined) throw unusableSecret('has no region, and the URL has none');
  const credentials = sessionToken === undefined ? keys : { ...keys, sessionToken };
  const signer = new AwsSigner({ service: 'bedrock', region, credentials });
  return signer.headersOf({ base, method: call.method, path: call.path, body: call.body });
}
