import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog, type SpeechModel } from '@svc/catalog';
import type { VoiceReply, VoiceRequest } from '@svc/api/audio';
import { routes } from '@svc/api';
import { AUDIO_MEDIA_TYPES } from '@svc/contracts/catalog';
import { invalidRequest } from '@svc/contracts/problems';
import { type AudioFile, AudioFiles } from '@svc/media';
import { PaidOperations, sellModel } from '@svc/paid/paid';
import { Serves } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { audioIn } from '../transcriptions/audio-reading.js';
import { VoiceStore } from './voice.store.js';

/** The largest sample: each request for speech with the voice takes it to a server. */
const SAMPLE_BYTES = 10_000_000;

/** Lists voices and the models that have them, and clones further ones. */
@Controller()
export class VoicesController {
  constructor(
    private readonly catalog: Catalog,
    private readonly paid: PaidOperations,
    private readonly files: AudioFiles,
    private readonly voicesOfAccounts: VoiceStore,
  ) {}

  @Serves(routes.audioModels)
  models(): z.infer<typeof routes.audioModels.reply> {
    return { models: this.catalog.ofType('tts').list.map(({ id, name }) => ({ id, name })) };
  }

  @Serves(routes.audioVoices)
  voices(): z.infer<typeof routes.audioVoices.reply> {
    const voices = new Set(this.catalog.ofType('tts').list.flatMap((model) => model.voices));
    return { voices: [...voices].map((id) => ({ id, name: id })) };
  }

  @Serves(routes.createVoice)
  async create(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { model: name, file, text }: VoiceRequest,
  ): Promise<VoiceReply> {
    const { caller } = request;
    assert(caller, 'the route requires a key or a wallet');
    const sale = sellModel(name, this.catalog.ofType('tts'), { caller, catalog: this.catalog });
    const { model } = sale;
    const cloning = cloningOf(model);
    const { result } = await this.paid.run(
      {
        sale,
        amounts: {},
        hold: { amountNano: 0n },
        perform: async ({ accountId }, signal) => {
          const audio = await traced('measure audio', () =>
            audioIn(file, this.files, { account: accountId, signal }),
          );
          refuseUnfit(audio, cloning);
          const type = AUDIO_MEDIA_TYPES[audio.format];
          const sample = { accountId, model: model.id, type, bytes: audio.bytes, text };
          const id = await this.voicesOfAccounts.insert(sample);
          return { result: { id, model: model.id }, backend: '', lines: [] };
        },
      },
      { request, reply },
    );
    return result;
  }
}

type Cloning = NonNullable<SpeechModel['voiceCloning']>;

function cloningOf({ id, voiceCloning }: SpeechModel): Cloning {
  if (voiceCloning) return voiceCloning;
  throw invalidRequest([{ code: 'custom', path: ['model'], message: `${id} does not clone voices.` }]);
}

function refuseUnfit(
  { format, milliseconds, bytes }: AudioFile,
  { formats, minSeconds, maxSeconds }: Cloning,
): void {
  const refuse = (message: string): never => {
    throw invalidRequest([{ code: 'custom', path: ['file'], message }]);
  };
  if (!formats.some((accepted) => accepted === format))
    refuse(`Must be ${formats.join(', ')}, not ${format}.`);
  if (milliseconds < minSeconds * 1_000 || milliseconds > maxSeconds * 1_000)
    refuse(`Must be ${minSeconds} to ${maxSeconds} seconds long, not ${milliseconds / 1_000}.`);
  if (bytes.length > SAMPLE_BYTES) refuse('Must have at most 10 MB.');
}
