import { Module } from '@nestjs/common';
import { TextModule } from '@svc/text';
import { CompletionsController } from './completions/completions.controller.js';
import { MessagesController } from './messages/messages.controller.js';
import { ResponsesController } from './responses/responses.controller.js';
import { PromptTokens } from './tokens/prompt-tokens.js';

/** The dialects of clients in addition to chat completions, on the completions of `text`. */
@Module({
  imports: [TextModule],
  controllers: [CompletionsController, MessagesController, ResponsesController],
  providers: [PromptTokens],
})
export class ClientDialectsModule {}
