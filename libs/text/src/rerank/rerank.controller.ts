import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { routes } from '@svc/api';
import type { RerankReply, RerankRequest } from '@svc/api/rerank';
import { Catalog } from '@svc/catalog';
import { Scores } from '@svc/contracts/inference';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InputSales } from '../inputs/input-sales.js';
import { planRerank } from './rerank-plan.js';

@Controller()
export class RerankController {
  constructor(
    private readonly sales: InputSales,
    private readonly scores: Scores,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.rerank)
  async rank(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: RerankRequest,
  ): Promise<RerankReply> {
    const { caller, id } = request;
    assert(caller, 'the route requires a key or a wallet');
    const { order, ...plan } = planRerank(body, caller, this.catalog);
    const sold = await this.sales.run(
      {
        operation: 'rerank',
        ...plan,
        call: (origin, signal) => this.scores.rank({ ...origin, order }, signal),
      },
      { request, reply },
    );
    const { made, line, model, usage, cost } = sold;
    const results = made.scores
      .map((score, index) => ({
        index,
        relevance_score: score,
        ...(body.return_documents === true && { document: { text: order.documents[index] ?? '' } }),
      }))
      .toSorted((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, body.top_n ?? undefined);
    const billed = line.unit === 'search' ? { search_units: line.units } : { input_tokens: line.units };
    return { id, model, results, usage, meta: { billed_units: billed }, cost };
  }
}
