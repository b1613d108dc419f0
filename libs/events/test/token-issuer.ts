import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';

const AUDIENCE = 'kafka';
export const CLIENT = { id: 'svc gateway', secret: 'p:%+é&=' };
/** Not less than twice the 10 s before its end at which kafkajs replaces one. */
const LIFETIME_SECONDS = 24;
const ISSUER = 'https://issuer.test';

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Issues signed tokens to one client (`/token`), and publishes its public key (`/keys`). */
export class TokenIssuer {
  /** The scopes that were requested. */
  readonly scopes: string[] = [];
  private readonly key: KeyObject;
  private readonly keys: string;

  private constructor(private server: TestServer | undefined) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    this.key = privateKey;
    const jwk = publicKey.export({ format: 'jwk' });
    this.keys = JSON.stringify({ keys: [{ ...jwk, kid: '1', use: 'sig', alg: 'RS256' }] });
  }

  static async start(): Promise<TokenIssuer> {
    const issuer = new TokenIssuer(undefined);
    issuer.server = await TestServer.start((request, response) => void issuer.respond(request, response));
    return issuer;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  /** What a broker must know to verify the tokens. */
  get trust() {
    return { keysUrl: `${this.url}/keys`, issuer: ISSUER, audience: AUDIENCE };
  }

  token(audience = AUDIENCE): string {
    const seconds = Math.floor(Date.now() / 1_000);
    const claims = { iss: ISSUER, aud: audience, sub: CLIENT.id, iat: seconds };
    const head = { alg: 'RS256', kid: '1', typ: 'JWT' };
    const signed = `${encoded(head)}.${encoded({ ...claims, exp: seconds + LIFETIME_SECONDS })}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), this.key).toString('base64url')}`;
  }

  async close(): Promise<void> {
    await this.server?.close();
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    if (request.url === '/keys') {
      response.end(this.keys);
      return;
    }
    const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
    const decoded = Buffer.from(credentials, 'base64').toString();
    const [id, secret] = decoded.split(':').map((part) => new URLSearchParams(`=${part}`).get(''));
    const isClient = scheme === 'Basic' && id === CLIENT.id && secret === CLIENT.secret;
    if (!isClient || form.get('grant_type') !== 'client_credentials') {
      response.writeHead(401).end('{"error":"invalid_client"}');
      return;
    }
    this.scopes.push(form.get('scope') ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        access_token: this.token(),
        token_type: 'Bearer',
        expires_in: LIFETIME_SECONDS,
      }),
    );
  }
}
