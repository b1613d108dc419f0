import { Module } from '@nestjs/common';
import { ChatController } from './chat/chat.controller.js';
import { ChatPipeline } from './chat/chat.pipeline.js';
import { Completions } from './chat/completions.js';
import { FollowUpCall } from './chat/follow-up-call.js';
import { Inference } from './chat/inference.js';
import { PromptMaking } from './chat/prompt-making.js';
import { EmbeddingsController } from './embeddings/embeddings.controller.js';
import { InputSales } from './inputs/input-sales.js';
import { RerankController } from './rerank/rerank.controller.js';
import { ModerationsController } from './moderations/moderations.controller.js';
import { Preparation } from './request/preparation.js';
import { Prompts } from './request/prompts.js';
import { Tokenizers } from './tokens/tokenizers.js';
import { WebResearch } from './web/web-research.js';

/** Chat completions and what else is made of texts. Needs `paid`, the catalogue and the characters. */
@Module({
  controllers: [ChatController, ModerationsController, RerankController, EmbeddingsController],
  providers: [
    ChatPipeline,
    Completions,
    FollowUpCall,
    Inference,
    InputSales,
    Preparation,
    PromptMaking,
    Prompts,
    Tokenizers,
    WebResearch,
  ],
  exports: [Completions, Preparation, WebResearch],
})
export class TextModule {}
