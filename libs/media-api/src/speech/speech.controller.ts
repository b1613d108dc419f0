import assert from 'node:assert/strict';
import { Controller, Req, Res } from '@nestjs/common';
import type { SpeechRequest } from '@svc/api/audio';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewaySettings } from '@svc/paid';
import { ResponseWriter, BackgroundWork } from '@svc/paid/http';
import { PaymentDemands } from '@svc/identity/wallets';
import { SpeechPipeline } from './speech.pipeline.js';

@Controller()
export class SpeechController {
  constructor(
    private readonly pipeline: SpeechPipeline,
    private readonly settings: GatewaySettings,
    private readonly background: BackgroundWork,
    private readonly demands: PaymentDemands,
  ) {}

  @Serves(routes.speech)
  async speak(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { id: requestId, record, caller } = request;
    assert(caller, 'the route requires a key or a wallet');
    const client = new ResponseWriter(request, reply, this.settings.config);
    const work = this.background.begin(record);
    try {
      const speech = request.body as SpeechRequest;
      await this.pipeline.speak({ requestId, caller, speech, record, client });
    } catch (error) {
      reply.headers(client.headers);
      throw await this.demands.refusalFor(caller, error, { request, reply });
    } finally {
      client.close();
      work.end();
    }
  }
}
