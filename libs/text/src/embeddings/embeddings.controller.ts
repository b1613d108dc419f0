import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type { EmbeddingRequest } from '@svc/api/embeddings';
import { routes } from '@svc/api';
import { Embeddings } from '@svc/contracts/inference';
import { chargeLine } from '@svc/contracts/messages';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, encode } from '@svc/paid/http';
import { InputSales } from '../inputs/input-sales.js';
import { embeddingJson } from './embedding-body.js';
import { planEmbeddings } from './embedding-plan.js';

@Controller()
export class EmbeddingsController {
  constructor(
    private readonly sales: InputSales,
    private readonly embeddings: Embeddings,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.embeddings)
  async create(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: EmbeddingRequest,
  ): Promise<string | Buffer> {
    const { caller } = request;
    assert(caller, 'the route requires a key or a wallet');
    const { sale, texts, bounds } = planEmbeddings(body, caller, this.catalog);
    const { id, inputNano } = sale.model;
    const price = {
      sku: `${id}-embedding-input-mtoken`,
      unit: 'token',
      priceNanoPerMillion: inputNano,
    } as const;
    const { made, model, usage, cost } = await this.sales.run(
      {
        operation: 'embeddings',
        sale,
        bounds,
        line: (tokens) => chargeLine(price, tokens),
        call: (origin, signal) => this.embeddings.vectors({ ...origin, texts }, signal),
      },
      { request, reply },
    );
    const json = await embeddingJson(made.vectors, body.encoding_format ?? 'float', { model, usage, cost });
    reply.header('content-type', 'application/json; charset=utf-8');
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    if (encoding === undefined) return json;
    reply.headers({ 'content-encoding': encoding, vary: 'accept-encoding' });
    return encode(json, encoding);
  }
}
