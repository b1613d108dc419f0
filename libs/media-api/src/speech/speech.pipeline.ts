import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { type ChunkStream, Speech } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import type { SpeechRequest } from '@svc/api/audio';
import { formatUsd } from '@svc/contracts/money';
import type { RequestRecord } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import { type ResponseWriter, servedBy } from '@svc/paid/http';
import { type PaidOperation, PaidOperations, type Reservation, isUnserved } from '@svc/paid/paid';
import { GatheredBytes } from './gathered-bytes.js';
import { SpeechDelivery } from './speech-delivery.js';
import { type SpeechPlan, isCloned, planSpeech, unknownVoice } from './speech-plan.js';
import { VoiceStore } from './voice.store.js';

/** A speech request and its client, for the lifetime of the request. */
export interface SpeechContext {
  readonly requestId: string;
  readonly caller: Caller;
  readonly speech: SpeechRequest;
  readonly record: RequestRecord;
  readonly client: ResponseWriter;
}

/**
 * The steps of a speech request from top to bottom, with the refusals of each on the right. The price is held
 * before the backend is called, and charged before the last byte is sent.
 */
@Injectable()
export class SpeechPipeline {
  private readonly gathered = new GatheredBytes();

  constructor(
    private readonly catalog: Catalog,
    private readonly paid: PaidOperations,
    private readonly speech: Speech,
    private readonly voices: VoiceStore,
  ) {}

  /** Resolves when the response is written and settled, or when the client is gone. */
  async speak(context: SpeechContext): Promise<void> {
    const { client, record, speech, caller } = context;
    const plan = planSpeech(speech, caller, this.catalog); //                  MODEL_NOT_FOUND, INVALID_REQUEST, …
    Object.assign(record, { model: plan.sale.name, operation: 'speech', stream: plan.text.isStreamed });
    Object.assign(client.headers, plan.sale.headers);
    const begun = await this.paid.begin(operationOf(plan), context);
    Object.assign(client.headers, begun.headers);
    if ('refusal' in begun) throw begun.refusal; //                       RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE
    const { reservation } = begun;
    const room = plan.text.isStreamed ? undefined : this.gathered.file();
    if (!plan.text.isStreamed) client.outlastIfRepeated();
    let delivery: SpeechDelivery | undefined;
    try {
      const ready = await this.withSample(plan, context); //              INVALID_REQUEST, UNAVAILABLE
      const source = await this.source(context, ready); //                MODEL_AT_CAPACITY, INFERENCE_FAILED, …
      delivery = new SpeechDelivery({ source, client, room });
      const isDue = await heard(delivery, context);
      if (isDue) await settle(context, plan, reservation); //             UNAVAILABLE
      if (!client.isGone) await delivery.end();
    } catch (error) {
      // A request that this service could not serve does not count against its caller's limits.
      if (isUnserved(error)) Object.assign(client.headers, await reservation.cancel());
      refuse(context, error, delivery?.hasBegun === true);
    } finally {
      room?.release();
      await reservation.release();
    }
  }

  /** The plan with the sample of its voice, if that is a cloned one. */
  private async withSample(
    plan: SpeechPlan,
    { speech, caller: { accountId } }: SpeechContext,
  ): Promise<SpeechPlan> {
    const { sale, text } = plan;
    const { model } = sale;
    if (!isCloned(model, text.voice)) return plan;
    const voice = await this.voices.find(text.voice, { accountId, model: model.id });
    if (!voice) throw unknownVoice(model, speech);
    const { type, bytes } = voice;
    const sample = { type, base64: Buffer.from(bytes).toString('base64') };
    return { ...plan, text: { ...text, sample: { ...sample, ...(voice.text && { text: voice.text }) } } };
  }

  /** Resolves when a backend has sent the first bytes. */
  private async source(
    { requestId, caller, record, client }: SpeechContext,
    plan: SpeechPlan,
  ): Promise<ChunkStream> {
    const { accountId } = caller;
    const call = { requestId, accountId, model: plan.sale.name, text: plan.text };
    const source = await traced('infer', () => this.speech.speak(call, client.signal));
    record.backend = source.backend;
    Object.assign(client.headers, servedBy(source.backend, source.retries));
    return source;
  }
}

/** Speech has an exact price, which depends on the text alone. */
function operationOf({ sale, line }: SpeechPlan): PaidOperation {
  return { sale, amounts: {}, hold: { amountNano: line.amountNano } };
}

/**
 * Delivers the audio. Returns whether it must be paid: not if the client disconnects before the first byte.
 * Throws the failure of the backend.
 */
async function heard(delivery: SpeechDelivery, { client, record }: SpeechContext): Promise<boolean> {
  try {
    await traced('deliver', () => delivery.read());
  } catch (error) {
    if (!client.isGone) throw error;
  }
  if (!client.isGone) return true;
  record.ended = 'client_gone';
  return delivery.hasBegun;
}

async function settle(
  { record }: SpeechContext,
  { line }: SpeechPlan,
  reservation: Reservation,
): Promise<void> {
  const { cost } = await reservation.settle({
    backend: record.backend ?? '',
    lines: [line],
    durationMs: performance.now() - record.startedMs,
  });
  record.costUsd = formatUsd(cost.usdNano);
  record.costDiem = formatUsd(cost.diemNano);
}

/** Throws an error for an HTTP status. A response that has begun is broken off instead. */
function refuse({ client, record }: SpeechContext, error: unknown, hasBegun: boolean): void {
  if (client.isGone) {
    record.ended = 'client_gone';
    return;
  }
  const late: unknown = client.signal.reason;
  const problem = late instanceof Problem ? late : Problem.from(error);
  if (!hasBegun) throw problem;
  record.ended = 'cut';
  record.problem = problem;
  client.breakOff();
}
