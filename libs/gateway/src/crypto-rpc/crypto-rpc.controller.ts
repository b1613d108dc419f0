import assert from 'node:assert/strict';
import { Controller, Param, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Problem, type RpcNetworkList, type RpcRequest, formatUsd, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpPair, PaidOperations } from '../paid/paid-operations.js';
import { rpcError } from './node-answers.js';
import { type RpcAnswers, RpcNodes } from './rpc-nodes.js';
import { type RpcPlan, creditLines, creditsAtMost, planRpc } from './rpc-plan.js';

const ROUTE = '/api/v1/crypto/rpc';

/** The largest result. Source: the limit of viem. */
const RESULT_CHARS = 10_485_760;
/** All results of a response together. */
const RESPONSE_CHARS = 26_214_400;

const NO_ANSWER = rpcError(-32_603, 'No node answered this call. It is not charged.');
const TOO_LARGE = rpcError(-32_005, 'The result is too large. Ask for less.');

/** Sells calls of blockchain nodes. */
@Controller()
export class CryptoRpcController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly nodes: RpcNodes,
    private readonly catalog: Catalog,
  ) {}

  @Answers(routes.rpcNetworks)
  async networks(): Promise<RpcNetworkList> {
    return { networks: await this.nodes.answering() };
  }

  @Answers(routes.callRpc)
  async call(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param() { network }: { network: string },
  ): Promise<string> {
    const { caller, bodyJson: json, body } = request;
    assert(caller && json, 'the route requires a key or a wallet, and a body');
    const plan = planRpc(network, { body: body as RpcRequest, text: json.text, caller }, this.catalog);
    const { answers } = await this.sold(plan, { request, reply });
    const text = responseOf(plan, answers);
    if (text === '') reply.status(204);
    else reply.header('content-type', 'application/json; charset=utf-8');
    return text;
  }

  private async sold(plan: RpcPlan, pair: HttpPair): Promise<RpcAnswers> {
    const { request, reply } = pair;
    const most = creditsAtMost(plan);
    try {
      const { result, cost } = await this.paid.run(
        {
          name: ROUTE,
          resource: { kind: 'route', name: ROUTE },
          limits: plan.limits,
          amounts: { credits: most },
          hold: { amountNano: plan.creditNano * BigInt(most) },
          perform: async ({ accountId }, signal) => {
            const { id: requestId, bodyJson } = request;
            assert(bodyJson, 'the route has a body');
            const caller = { requestId, accountId };
            const found = await this.nodes.call(plan, { strings: bodyJson.strings, caller }, signal);
            const credits = creditsOf(plan, found);
            return {
              result: { ...found, credits },
              backend: found.backend,
              lines: creditLines(plan, credits),
            };
          },
        },
        pair,
      );
      request.record.costUsd = formatUsd(cost.usdNano);
      request.record.costDiem = formatUsd(cost.diemNano);
      const { backend, credits } = result;
      reply.headers({
        'x-svc-rpc-credits': credits,
        'x-svc-rpc-cost-usd': (Number(plan.creditNano * BigInt(credits)) / 1e9).toFixed(9),
        'x-svc-rpc-network': plan.network,
        'x-svc-model-router': backend,
      });
      return result;
    } catch (error) {
      throw withoutRetryAfter(error, reply);
    }
  }
}

/** A call with a result costs its credits, one with an error fewer, and one without an answer nothing. */
function creditsOf({ calls, errorCredits }: RpcPlan, { answers }: RpcAnswers): number {
  return calls.reduce((sum, { credits }, index) => {
    const answer = answers[index];
    if (!answer) return sum;
    return sum + ('result' in answer ? credits : Math.min(errorCredits, credits));
  }, 0);
}

/** The JSON text for the client, in the order of its calls; empty if none of them has an id. */
function responseOf({ calls, isList }: RpcPlan, answers: RpcAnswers['answers']): string {
  let left = RESPONSE_CHARS;
  const texts: string[] = [];
  for (const [index, { id }] of calls.entries()) {
    if (id === undefined) continue;
    const answer = answers[index] ?? { error: NO_ANSWER };
    const size = 'result' in answer ? answer.result.length : answer.error.length;
    const isLarge = size > Math.min(RESULT_CHARS, left);
    if (!isLarge) left -= size;
    const fits = isLarge ? { error: TOO_LARGE } : answer;
    const outcome = 'result' in fits ? `"result":${fits.result}` : `"error":${fits.error}`;
    texts.push(`{"jsonrpc":"2.0","id":${id},${outcome}}`);
  }
  if (texts.length === 0) return '';
  return isList ? `[${texts.join(',')}]` : texts.join('');
}

/**
 * Widely used clients read `Retry-After` as milliseconds and retry at once, so these routes tell the end of
 * the window instead.
 */
function withoutRetryAfter(error: unknown, reply: FastifyReply): unknown {
  if (!(error instanceof Problem) || error.code !== 'RATE_LIMIT_EXCEEDED') return error;
  const { message, retryAfterSeconds = 1, cause } = error;
  reply.header('x-ratelimit-reset', Math.ceil(Date.now() / 1_000) + retryAfterSeconds);
  return new Problem('RATE_LIMIT_EXCEEDED', { message, cause });
}
