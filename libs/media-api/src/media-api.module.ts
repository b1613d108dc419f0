import { Module } from '@nestjs/common';
import { EditImages } from './images/edit-images.js';
import { ImageMaker } from './images/image-maker.js';
import { ImageSales } from './images/image-sales.js';
import { ImagesController } from './images/images.controller.js';
import { PromptEnhancer } from './images/prompt-enhancer.js';
import { CallbacksStore } from './media-jobs/callbacks.store.js';
import { MediaJobsController } from './media-jobs/media-jobs.controller.js';
import { MediaOrders } from './media-jobs/media-orders.js';
import { MediaResults } from './media-jobs/media-results.js';
import { SpeechController } from './speech/speech.controller.js';
import { SpeechPipeline } from './speech/speech.pipeline.js';
import { VoiceStore } from './speech/voice.store.js';
import { VoicesController } from './speech/voices.controller.js';
import { TranscriptionsController } from './transcriptions/transcriptions.controller.js';

/** Images, speech, transcriptions, videos and music. Needs the global modules of `paid` and the catalogue. */
@Module({
  controllers: [
    ImagesController,
    MediaJobsController,
    SpeechController,
    TranscriptionsController,
    VoicesController,
  ],
  providers: [
    CallbacksStore,
    EditImages,
    ImageMaker,
    ImageSales,
    MediaOrders,
    MediaResults,
    PromptEnhancer,
    SpeechPipeline,
    VoiceStore,
  ],
})
export class MediaApiModule {}
