import { Body, Controller, Query, Req, Res } from '@nestjs/common';
import { Books, type CreditedPayment, Payments } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { TopUpQuery, TopUpReply, UnsignedSolanaTransfer, WantedSolanaTransfer } from '@svc/api/wallets';
import { routes } from '@svc/api';
import { parseUsd, usdNumber } from '@svc/contracts/money';
import { Serves, within } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoredSession } from '@svc/identity/console';
import { PaymentDemands } from '@svc/identity/wallets';

/** The header names for payments, the newest first. */
const PAYMENT_HEADERS = ['payment-signature', 'x-402-payment', 'x-payment'] as const;

/** How long a response waits for the wallet's balance. */
const KNOWN_WITHIN_MS = 2_000;

@Controller()
export class TopUpController {
  constructor(
    private readonly payments: Payments,
    private readonly books: Books,
    private readonly demands: PaymentDemands,
  ) {}

  @Serves(routes.topUp)
  async topUp(
    @Query() { amount }: TopUpQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TopUpReply> {
    try {
      const header = paymentOf(request);
      if (header === undefined) throw await this.demands.forTopUp(amount, request, reply);
      // In the console, the account that is signed in gets the credit, whichever wallet pays.
      const session: StoredSession | undefined = request.session;
      return await this.pay({ header, accountId: session?.accountId }, reply);
    } catch (error) {
      throw asTopUp(Problem.from(error));
    }
  }

  @Serves(routes.solanaTransfer)
  async solanaTransfer(@Body() { amount, payer }: WantedSolanaTransfer): Promise<UnsignedSolanaTransfer> {
    const usdNano = parseUsd(amount) ?? 0n;
    const transaction = await this.payments.unsignedTransfer({ payer, usdNano });
    return { success: true, data: { transaction } };
  }

  private async pay(
    { header, accountId }: { readonly header: string; readonly accountId: string | undefined },
    reply: FastifyReply,
  ): Promise<TopUpReply> {
    const outcome = await (accountId === undefined
      ? this.payments.topUp(header)
      : this.payments.topUp(header, accountId));
    if (outcome.state === 'open') {
      throw new Problem('PAYMENT_IN_PROGRESS', { retryAfterSeconds: outcome.retryAfterSeconds });
    }
    const { wallet: payer, network, transaction, usdNano, paymentId } = outcome;
    const response = { success: true, transaction, network, payer };
    reply.header('PAYMENT-RESPONSE', Buffer.from(JSON.stringify(response)).toString('base64'));
    const maySee = outcome.isFromPayer || outcome.accountId === accountId;
    const balance = maySee ? await this.balance(outcome) : undefined;
    return {
      success: true,
      data: {
        walletAddress: payer,
        amountCredited: usdNumber(usdNano),
        ...(balance !== undefined && { newBalance: usdNumber(balance) }),
        paymentId,
      },
    };
  }

  private async balance({ accountId }: CreditedPayment): Promise<bigint | undefined> {
    try {
      return (await within(KNOWN_WITHIN_MS, this.books.balances(accountId))).usdNano;
    } catch {
      return undefined;
    }
  }
}

function paymentOf({ headers }: FastifyRequest): string | undefined {
  for (const name of PAYMENT_HEADERS) {
    const value = headers[name];
    if (value !== undefined) return Array.isArray(value) ? value.join() : value;
  }
  return undefined;
}

/** Errors of this route have their own response body. */
function asTopUp(problem: Problem): Problem {
  if (problem.body) return problem;
  const { code, message, retryAfterSeconds, cause } = problem;
  return new Problem(code, {
    message,
    body: { error: code, message },
    cause,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
