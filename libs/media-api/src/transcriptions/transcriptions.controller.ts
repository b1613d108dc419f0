import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { AUDIO_MEDIA_TYPES } from '@svc/contracts/catalog';
import { type Transcript, Transcriptions } from '@svc/contracts/inference';
import type { TranscriptReply, TranscriptionRequest, TranslationRequest } from '@svc/api/audio';
import { routes } from '@svc/api';
import { type AudioFile, AudioFiles } from '@svc/media';
import { Serves, RootLogger, whileConnected } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpPair, PaidOperations } from '@svc/paid/paid';
import { audioIn } from './audio-reading.js';
import { type FinishedTranscript, inEvents, inFormat } from './transcript-formats.js';
import {
  type AudioRequest,
  type TranscriptionPlan,
  audioLine,
  chargedMs,
  doubtOf,
  longerThanMeasured,
  planTranscription,
  refuseLong,
} from './transcription-plan.js';

/** Transcribes and translates files. The price of the whole file is held before a backend is called. */
@Controller()
export class TranscriptionsController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly catalog: Catalog,
    private readonly files: AudioFiles,
    private readonly transcriptions: Transcriptions,
    private readonly logger: RootLogger,
  ) {}

  @Serves(routes.transcription)
  transcribe(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: TranscriptionRequest,
  ): Promise<TranscriptReply | string> {
    return this.serve('transcription', body, { request, reply });
  }

  @Serves(routes.translation)
  translate(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: TranslationRequest,
  ): Promise<TranscriptReply | string> {
    return this.serve('translation', body, { request, reply });
  }

  private async serve(
    kind: 'transcription' | 'translation',
    body: AudioRequest,
    pair: HttpPair,
  ): Promise<TranscriptReply | string> {
    const { request, reply } = pair;
    const { record, caller } = request;
    assert(caller, 'the route requires a key or a wallet');
    const plan = planTranscription(body, caller, this.catalog);
    Object.assign(record, { model: plan.sale.name, operation: kind, stream: body.stream === true });
    reply.headers(plan.sale.headers);
    const file = await whileConnected(request, (signal) =>
      traced('measure audio', () => this.measured(plan, { account: caller.accountId, signal })),
    );
    const { transcript, milliseconds } = await this.sell(kind, { plan, file }, pair);
    const finished: FinishedTranscript = {
      transcript,
      seconds: milliseconds / 1_000,
      task: kind === 'transcription' ? 'transcribe' : 'translate',
    };
    if (body.stream === true) {
      reply.header('content-type', 'text/event-stream; charset=utf-8');
      return inEvents(finished);
    }
    const written = inFormat(finished, body);
    if (typeof written === 'string') reply.header('content-type', 'text/plain; charset=utf-8');
    return written;
  }

  /** Refuses: INVALID_REQUEST, and UNAVAILABLE while too many files are being read. */
  private async measured(
    { sale: { model }, file }: TranscriptionPlan,
    caller: { readonly account: string; readonly signal: AbortSignal },
  ): Promise<AudioFile> {
    const audio = await audioIn(file, this.files, caller);
    refuseLong(model, audio.milliseconds);
    return audio;
  }

  private async sell(
    kind: 'transcription' | 'translation',
    audio: { readonly plan: TranscriptionPlan; readonly file: AudioFile },
    pair: HttpPair,
  ): Promise<{ readonly transcript: Transcript; readonly milliseconds: number }> {
    const { sale } = audio.plan;
    const { model } = sale;
    const { id: requestId } = pair.request;
    const { result } = await this.paid.run(
      {
        sale,
        amounts: {},
        hold: { amountNano: audioLine(model, audio.file.milliseconds).amountNano },
        perform: async ({ accountId }, signal) => {
          const response = await this.transcribed({ kind, requestId, accountId }, audio, signal);
          const { backend, retries, milliseconds } = response;
          return { result: response, backend, retries, lines: [audioLine(model, milliseconds)] };
        },
      },
      pair,
    );
    return result;
  }

  private async transcribed(
    call: {
      readonly kind: 'transcription' | 'translation';
      readonly requestId: string;
      readonly accountId: string;
    },
    { plan, file: audio }: { readonly plan: TranscriptionPlan; readonly file: AudioFile },
    signal: AbortSignal,
  ) {
    const { format, milliseconds: measuredMs } = audio;
    const model = plan.sale.name;
    // The file's own name is the caller's, and not needed.
    const file = { name: `audio.${format}`, type: AUDIO_MEDIA_TYPES[format], bytes: audio.bytes };
    const response = await traced('infer', () =>
      this.transcriptions.transcribe({ ...call, model, audio: plan.audio, file }, signal),
    );
    const { result: transcript, backend, retries } = response;
    const reportedMs =
      transcript.seconds === undefined ? undefined : Math.ceil(transcript.seconds * 1_000 - ROUNDING);
    const doubt = doubtOf(transcript, { measuredMs, reportedMs });
    if (doubt) {
      inference.doubtedLengths.add(1, model, backend, doubt);
      const fields = { requestId: call.requestId, model, backend, measuredMs, reportedMs, format, doubt };
      this.logger.log.warn(fields, 'a backend reports another length of an audio file than was measured');
      if (doubt !== 'shorter') throw longerThanMeasured(measuredMs);
    }
    return { transcript, backend, retries, milliseconds: chargedMs(measuredMs, reportedMs) };
  }
}

/** In milliseconds: 2.3 s times 1,000 is a little more than 2,300. */
const ROUNDING = 1e-6;
