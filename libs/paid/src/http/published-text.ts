import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Encoding, chooseEncoding, encode } from './content-encoding.js';

interface TextHeaders {
  readonly 'content-type': string;
  readonly 'cache-control': string;
}

/** A text that is the same for all clients. It is compressed once per encoding. */
export class PublishedText {
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();

  constructor(
    private readonly text: string | Buffer,
    private readonly headers: TextHeaders,
  ) {}

  async send(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    reply.headers({ ...this.headers, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' });
    if (!encoding) {
      await reply.send(this.text);
      return;
    }
    const bytes = this.encoded.get(encoding) ?? encode(this.text, encoding);
    this.encoded.set(encoding, bytes);
    await reply.header('content-encoding', encoding).send(await bytes);
  }
}
