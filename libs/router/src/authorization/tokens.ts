import { createSign } from 'node:crypto';
import { BackendError } from '@svc/backend-calls';
import { type Lent, type RequestSender, grantedToken, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';

/** The longest lifetime that Google gives a token. */
const LIFETIME_SECONDS = 3_600;

const ISSUER = { issuer: 'the issuer of tokens', usualSeconds: LIFETIME_SECONDS };

/** Where a token is asked for: encrypted, or on this machine. */
const TokenUrl = z
  .url({ protocol: /^https?$/ })
  .refine(
    (url) => url.startsWith('https:') || ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname),
  );

const ServiceAccount = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: TokenUrl.default('https://oauth2.googleapis.com/token'),
});

const EntraClient = z.object({
  tenant_id: z.string().regex(/^[\w.-]+$/),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  /** Of a national cloud, for example. */
  authority: TokenUrl.default('https://login.microsoftonline.com'),
});

const GOOGLE_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const ENTRA_SCOPE = 'https://cognitiveservices.azure.com/.default';

/** The operator's secret cannot be used. It is not part of the message. */
export const unusableSecret = (what: string): BackendError =>
  new BackendError(401, JSON.stringify({ error: { message: `the secret of the backend ${what}` } }));

/** The secret of a backend as the object that it should be. Throws BackendError, without the secret. */
export function readSecret<Value>(schema: z.ZodType<Value>, secret: string, what: string): Value {
  const { success, data } = schema.safeParse(jsonOrUndefined(secret));
  if (!success) throw unusableSecret(`is not ${what}`);
  return data;
}

/** A token for Google's APIs by a service account (RFC 7523). */
export async function serviceAccountToken(secret: string, sender?: RequestSender): Promise<Lent<string>> {
  const account = readSecret(ServiceAccount, secret, 'the JSON key of a service account');
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: assertionOf(account),
  };
  return grantedToken(account.token_uri, { ...ISSUER, form, sender });
}

function assertionOf(account: z.infer<typeof ServiceAccount>): string {
  const { client_email: iss, private_key: key, private_key_id: kid, token_uri: aud } = account;
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { iss, scope: GOOGLE_SCOPE, aud, iat, exp: iat + LIFETIME_SECONDS };
  const text = [{ alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
  } catch {
    // Its reason may quote the key.
    throw unusableSecret('has no private key that can sign');
  }
}

/** A token of the workload, from the server for metadata of Google's machines. */
export async function workloadToken(metadataUrl: string): Promise<Lent<string>> {
  const url = `${metadataUrl}/computeMetadata/v1/instance/service-accounts/default/token`;
  return grantedToken(url, { ...ISSUER, headers: { 'metadata-flavor': 'Google' } });
}

/** A token for Azure by the credentials of a client (RFC 6749, section 4.4). */
export async function entraToken(secret: string, sender?: RequestSender): Promise<Lent<string>> {
  const client = readSecret(EntraClient, secret, 'an object with tenant_id, client_id and client_secret');
  const { authority, tenant_id: tenant, client_id: id, client_secret: password } = client;
  const form = {
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: password,
    scope: ENTRA_SCOPE,
  };
  const url = `${authority.replace(/\/$/, '')}/${tenant}/oauth2/v2.0/token`;
  return grantedToken(url, { ...ISSUER, form, sender });
}
