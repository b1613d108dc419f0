import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type { EmbeddingRequest } from '@svc/api/embeddings';
import { routes } from '@svc/api';
import { usdNumber } from '@svc/contracts/money';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, encode } from '@svc/paid/http';
import { PaidOperations } from '@svc/paid/paid';
import { Embedder, lineOf } from './embedder.js';
import { embeddingJson } from './embedding-body.js';
import { planEmbeddings } from './embedding-plan.js';

@Controller()
export class EmbeddingsController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly embedder: Embedder,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.embeddings)
  async create(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: EmbeddingRequest,
  ): Promise<string | Buffer> {
    const { record, caller, id: requestId } = request;
    assert(caller, 'the route requires a key or a wallet');
    const plan = planEmbeddings(body, caller, this.catalog);
    const { sale, format } = plan;
    record.operation = 'embeddings';
    const { result, cost } = await this.paid.run(
      {
        sale,
        amounts: { tokens: plan.tokens },
        hold: { amountNano: lineOf(plan, plan.tokensAtMost).amountNano },
        perform: ({ accountId }, signal) => this.embedder.embed(plan, { requestId, accountId }, signal),
      },
      { request, reply },
    );
    const { vectors, promptTokens } = result;
    record.promptTokens = promptTokens;
    const json = await embeddingJson(vectors, format, {
      model: sale.name,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
      cost: { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) },
    });
    reply.header('content-type', 'application/json; charset=utf-8');
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    if (encoding === undefined) return json;
    reply.headers({ 'content-encoding': encoding, vary: 'accept-encoding' });
    return encode(json, encoding);
  }
}
