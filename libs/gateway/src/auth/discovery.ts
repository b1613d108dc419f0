import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers a request without any credentials: 402 with what x402 clients look for, and how an API key is sent.
 * Source of the shape: x402 version 2. `accepts` lists the ways to pay on this deployment.
 */
export function sendDiscovery(request: FastifyRequest, reply: FastifyReply): void {
  const resource = {
    url: `${request.protocol}://${request.host}${request.url}`,
    description: 'Chat completions',
    mimeType: 'application/json',
  };
  const required = {
    x402Version: 2,
    error: 'Payment required',
    resource,
    accepts: [],
    extensions: {},
  };
  const authOptions = { apiKey: { header: 'Authorization: Bearer <API_KEY>' } };
  reply.header('PAYMENT-REQUIRED', Buffer.from(JSON.stringify(required)).toString('base64'));
  reply.header('content-type', 'application/json; charset=utf-8');
  void reply.status(402).send(JSON.stringify({ ...required, authOptions }));
}
