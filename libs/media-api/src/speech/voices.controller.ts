import { Controller } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { z } from 'zod';

/** Lists voices and the models that have them. */
@Controller()
export class VoicesController {
  constructor(private readonly catalog: Catalog) {}

  @Serves(routes.audioModels)
  models(): z.infer<typeof routes.audioModels.reply> {
    return { models: this.catalog.ofType('tts').list.map(({ id, name }) => ({ id, name })) };
  }

  @Serves(routes.audioVoices)
  voices(): z.infer<typeof routes.audioVoices.reply> {
    const voices = new Set(this.catalog.ofType('tts').list.flatMap((model) => model.voices));
    return { voices: [...voices].map((id) => ({ id, name: id })) };
  }
}
