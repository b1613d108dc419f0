import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { routes } from '@svc/api';
import type { ModerationReply, ModerationRequest } from '@svc/api/moderations';
import { Catalog } from '@svc/catalog';
import { MODERATION_CATEGORIES } from '@svc/contracts/catalog';
import {
  type CallOrigin,
  type ModerationOrder,
  Scores,
  type ModerationVerdict,
} from '@svc/contracts/inference';
import { Attachments } from '@svc/paid/attachments';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InputSales } from '../inputs/input-sales.js';
import { type ModerationPlan, planModeration } from './moderation-plan.js';

@Controller()
export class ModerationsController {
  constructor(
    private readonly sales: InputSales,
    private readonly scores: Scores,
    private readonly catalog: Catalog,
    private readonly attachments: Attachments,
  ) {}

  @Serves(routes.moderations)
  async moderate(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ModerationRequest,
  ): Promise<ModerationReply> {
    const { caller, id } = request;
    assert(caller, 'the route requires a key or a wallet');
    const { inputs, ...plan } = planModeration(body, caller, this.catalog);
    const { guard } = plan.sale.model;
    const sold = await this.sales.run(
      {
        operation: 'moderation',
        ...plan,
        call: async (origin, signal) => {
          const order = { inputs: await this.ready(inputs, origin, signal), ...(guard && { guard }) };
          return this.scores.moderate({ ...origin, order }, signal);
        },
      },
      { request, reply },
    );
    const { made, model, usage, cost } = sold;
    return {
      id: `modr-${id}`,
      model,
      results: made.verdicts.map((one) => resultOf(one, inputs)),
      usage,
      cost,
    };
  }

  /** The inputs with checked images, none of which a backend has to fetch. */
  private async ready(
    inputs: ModerationPlan['inputs'],
    { accountId }: CallOrigin,
    signal: AbortSignal,
  ): Promise<ModerationOrder['inputs']> {
    const ready: ModerationOrder['inputs'] = [];
    for (const input of inputs) {
      if (typeof input === 'string') {
        ready.push(input);
        continue;
      }
      const parts: Exclude<ModerationOrder['inputs'][number], string> = [];
      for (const [at, part] of input.entries()) {
        const context = { path: ['input', at], accountId, takesImages: true, signal };
        const checked = part.type === 'text' ? part : await this.attachments.ready(part, context);
        if (checked.type === 'text') parts.push({ type: 'text', text: checked.text });
        if (checked.type === 'image_url')
          parts.push({ type: 'image_url', image_url: { url: checked.image_url.url } });
      }
      ready.push(parts);
    }
    return ready;
  }
}

/** A verdict in OpenAI's form, with all of its categories. */
function resultOf(
  { flagged, categories, scores, inputTypes }: ModerationVerdict,
  inputs: ModerationPlan['inputs'],
): ModerationReply['results'][number] {
  const types = new Set(
    inputs.flatMap((input) =>
      typeof input === 'string'
        ? ['text' as const]
        : input.map(({ type }) => (type === 'text' ? type : 'image')),
    ),
  );
  const all = <Value>(value: Value) => Object.fromEntries(MODERATION_CATEGORIES.map((name) => [name, value]));
  return {
    flagged,
    categories: { ...all(false), ...categories },
    category_scores: { ...all(0), ...scores },
    category_applied_input_types: inputTypes ?? all([...types]),
  };
}
