import assert from 'node:assert/strict';
import { Controller, Param, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Problem } from '@svc/contracts/problems';
import type { RpcNetworkList, RpcRequest } from '@svc/api/crypto-rpc';
import { routes } from '@svc/api';
import { type Incoming, type Outgoing, Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpPair, PaidOperations } from '@svc/paid/paid';
import { rpcError } from './node-outcomes.js';
import { type RpcOutcomes, RpcNodes } from './rpc-nodes.js';
import { type RpcPlan, creditLines, creditsAtMost, planRpc } from './rpc-plan.js';

const ROUTE = '/api/v1/crypto/rpc';

/** The largest result. Source: the limit of viem. */
const RESULT_CHARS = 10_485_760;
/** All results of a response together. */
const RESPONSE_CHARS = 26_214_400;

const NO_RESPONSE = rpcError(-32_603, 'No node responded to this call. It is not charged.');
const TOO_LARGE = rpcError(-32_005, 'The result is too large. Ask for less.');

interface RpcResponse {
  readonly credits: number;
  readonly backend: string;
  readonly response: string;
}

/** Sells calls of blockchain nodes. */
@Controller()
export class CryptoRpcController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly nodes: RpcNodes,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.rpcNetworks)
  async networks(): Promise<RpcNetworkList> {
    return { networks: await this.nodes.availableNetworks() };
  }

  @Serves(routes.callRpc)
  async call(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param() { network }: { network: string },
  ): Promise<string> {
    const { caller, bodyJson: json, body } = request;
    assert(caller && json, 'the route requires a key or a wallet, and a body');
    const finalizedBlock = this.nodes.finalizedBlockOf(network);
    const sent = { body: body as RpcRequest, json, caller, finalizedBlock };
    const plan = await planRpc(network, sent, this.catalog);
    const { response, credits, backend } = await this.sold(plan, { request, reply });
    reply.headers({
      'x-svc-rpc-credits': credits,
      'x-svc-rpc-cost-usd': (Number(plan.creditNano * BigInt(credits)) / 1e9).toFixed(9),
      'x-svc-rpc-network': plan.network,
      'x-svc-model-router': backend,
    });
    if (response === '') reply.status(204);
    else reply.header('content-type', 'application/json; charset=utf-8');
    return response;
  }

  private async sold(plan: RpcPlan, pair: HttpPair): Promise<RpcResponse> {
    const { request, reply } = pair;
    const most = creditsAtMost(plan);
    try {
      const { result } = await this.paid.run(
        {
          sale: { name: ROUTE, resource: { kind: 'route', name: ROUTE }, limits: plan.limits },
          amounts: { credits: most },
          hold: { amountNano: plan.creditNano * BigInt(most) },
          outlastsClient: plan.sent.length > 0,
          perform: async (_, signal) => {
            const made = await this.made(plan, request, signal);
            const { backend, credits } = made;
            return { result: made, backend, lines: creditLines(plan, credits) };
          },
        },
        pair,
      );
      return result;
    } catch (error) {
      throw withoutRetryAfter(error, reply);
    }
  }

  private async made(plan: RpcPlan, request: Incoming, signal: AbortSignal): Promise<RpcResponse> {
    const { id: requestId, bodyJson: json, caller } = request;
    assert(caller && json, 'the route requires a key or a wallet, and a body');
    const by = { requestId, accountId: caller.accountId, mayBeSent: request.repeat?.isTakenOver ?? false };
    const found = await this.nodes.call(plan, { strings: json.strings, caller: by }, signal);
    const { backend } = found;
    return { backend, credits: creditsOf(plan, found), response: responseOf(plan, found.outcomes) };
  }
}

/** A call with a result costs its credits, one with an error fewer, and one without a response nothing. */
function creditsOf({ calls, errorCredits }: RpcPlan, { outcomes }: RpcOutcomes): number {
  return calls.reduce((sum, { credits }, index) => {
    const outcome = outcomes[index];
    if (!outcome || ('isFree' in outcome && outcome.isFree)) return sum;
    return sum + ('result' in outcome ? credits : Math.min(errorCredits, credits));
  }, 0);
}

/** The JSON text for the client, in the order of its calls; empty if none of them has an id. */
function responseOf({ calls, isList }: RpcPlan, outcomes: RpcOutcomes['outcomes']): string {
  let left = RESPONSE_CHARS;
  const texts: string[] = [];
  for (const [index, { id }] of calls.entries()) {
    if (id === undefined) continue;
    const outcome = outcomes[index] ?? { error: NO_RESPONSE };
    const size = 'result' in outcome ? outcome.result.length : outcome.error.length;
    const isLarge = size > Math.min(RESULT_CHARS, left);
    if (!isLarge) left -= size;
    const fits = isLarge ? { error: TOO_LARGE } : outcome;
    const members = 'result' in fits ? `"result":${fits.result}` : `"error":${fits.error}`;
    texts.push(`{"jsonrpc":"2.0","id":${id},${members}}`);
  }
  if (texts.length === 0) return '';
  return isList ? `[${texts.join(',')}]` : texts.join('');
}

/**
 * Widely used clients read `Retry-After` as milliseconds and retry at once, so these routes tell the end of
 * the window instead.
 */
function withoutRetryAfter(error: unknown, reply: Outgoing): unknown {
  if (!(error instanceof Problem) || error.code !== 'RATE_LIMIT_EXCEEDED') return error;
  const { message, retryAfterSeconds = 1, cause } = error;
  reply.header('x-ratelimit-reset', Math.ceil(Date.now() / 1_000) + retryAfterSeconds);
  return new Problem('RATE_LIMIT_EXCEEDED', { message, cause });
}
