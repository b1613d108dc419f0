import { Injectable } from '@nestjs/common';
import { Problem, type ProblemCode } from '@svc/contracts/problems';
import { boundedJson, RootLogger } from '@svc/runtime';
import { type NodeOutcome, rpcError } from './node-outcomes.js';
import { type NodeResponse, NodeRequests, bodyOf } from './node-requests.js';
import type { SendCall } from './rpc-plan.js';
import { lookupOf } from './transactions.js';

/** A transaction is sent once, and once more if no node has it after a failure. */
const ATTEMPTS = 2;

const LOOKUP_MS = 5_000;

/** No transaction is sent later than this after the first one of a request. */
const BEGIN_MS = 20_000;

/** Failures after which no node can have got the transaction. */
const NOT_SENT: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['MODEL_OFFLINE', 'MODEL_AT_CAPACITY']);

/** The request that sends. */
export interface SendContext {
  readonly network: string;
  readonly requestId: string;
  readonly accountId: string;
  /** Whether an earlier process may have sent the transactions. */
  readonly mayBeSent: boolean;
}

/** What became of a call that sends. */
interface SendOutcome {
  /** `undefined`: it was certainly not sent. */
  readonly outcome: NodeOutcome | undefined;
  readonly backend?: string;
}

/**
 * Sends transactions. What nodes respond to a transaction that they already have differs in codes and
 * wordings, so after each error and each failure the chain is searched for it: a transaction that the chain
 * has was sent. Nothing here ends when the client disconnects.
 */
@Injectable()
export class RpcSends {
  constructor(
    private readonly requests: NodeRequests,
    private readonly logger: RootLogger,
  ) {}

  /** Sends one after the other, since later ones often need earlier ones. */
  async sendAll(
    calls: readonly SendCall[],
    context: SendContext,
    onOutcome: (index: number, outcome: SendOutcome) => void,
  ): Promise<void> {
    const startMs = performance.now();
    for (const call of calls) {
      if (performance.now() - startMs > BEGIN_MS) return;
      onOutcome(call.index, await this.sent(call, context));
    }
  }

  private async sent(call: SendCall, context: SendContext): Promise<SendOutcome> {
    const { id } = call;
    if (context.mayBeSent) {
      const known = await this.found(call, context);
      if (known) return known;
      if (id === undefined) return { outcome: outcomeUnknown(id) };
    }
    this.audit(context, id, call.method);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      let response: NodeResponse | undefined;
      try {
        response = await this.attempt(call, context);
      } catch (error) {
        if (error instanceof Problem && NOT_SENT.has(error.code))
          return { outcome: attempt === 1 ? undefined : outcomeUnknown(id) };
      }
      const outcome = response?.outcomes.get(0);
      if (response && outcome && 'result' in outcome) {
        if (id === undefined) this.audit(context, outcome.result.slice(0, 200), call.method);
        return { outcome, backend: response.backend };
      }
      const known = await this.found(call, context, response?.backend);
      if (known) return known;
      if (response && outcome) return { outcome, backend: response.backend };
      if (id === undefined) break;
    }
    return { outcome: outcomeUnknown(id) };
  }

  private attempt({ body }: SendCall, context: SendContext): Promise<NodeResponse> {
    const { network, requestId, accountId } = context;
    const request = { network, requestId, accountId, body, count: 1, isSend: true };
    return this.requests.send(request, NEVER);
  }

  /** The outcome of a call whose transaction the chain has: first at the node that has refused it. */
  private async found(
    { id, family }: SendCall,
    context: SendContext,
    backend?: string,
  ): Promise<SendOutcome | undefined> {
    const lookup = lookupOf(family);
    if (id === undefined || !lookup) return undefined;
    const { network, requestId, accountId } = context;
    const body = [Buffer.from(bodyOf([{ method: lookup.method, params: lookup.params(id) }]))];
    const request = {
      network,
      requestId,
      accountId,
      body,
      count: 1,
      ...(backend !== undefined && { backend }),
    };
    try {
      const response = await this.requests.send(request, AbortSignal.timeout(LOOKUP_MS));
      const outcome = response.outcomes.get(0);
      if (!outcome || !('result' in outcome) || !lookup.finds(boundedJson(outcome.result))) return undefined;
      return { outcome: { result: JSON.stringify(id) }, backend: response.backend };
    } catch {
      // No node can say it now.
      return undefined;
    }
  }

  /** Who sent which transaction, without its content. */
  private audit(context: SendContext, transaction: string | undefined, method: string): void {
    const { network, requestId, accountId } = context;
    this.logger.log.info(
      { requestId, accountId, network, method, transaction },
      'a client sends a transaction',
    );
  }
}

const NEVER = new AbortController().signal;

/** Not a code after which client libraries send again by themselves. */
const UNKNOWN_CODE = -32_000;

function outcomeUnknown(id: string | undefined): NodeOutcome {
  const what = id === undefined ? 'the state of the account' : id;
  const message = `It is not known whether the transaction was sent. Look up ${what} before you send again. Not charged.`;
  return { error: rpcError(UNKNOWN_CODE, message), isFree: true };
}
