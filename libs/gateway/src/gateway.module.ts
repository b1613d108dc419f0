import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AccountStore } from './account.store.js';
import { AccountsController } from './accounts.controller.js';
import { Admission } from './admission.js';
import { AnswerWriter } from './answer-writer.js';
import { Attachments } from './attachments.js';
import { AuditController } from './audit.controller.js';
import { CallerGate } from './caller-gate.js';
import { CallerGuard } from './caller-guard.js';
import { CharactersController } from './characters.controller.js';
import { ChatDoor } from './chat-door.js';
import { ChatController } from './chat.controller.js';
import { ChatPipeline } from './chat.pipeline.js';
import { DevelopmentAccount } from './development-account.js';
import { DocsController } from './docs.controller.js';
import { GatewaySettings } from './gateway.config.js';
import { Inference } from './inference.js';
import { KeyStore } from './key.store.js';
import { ModelsController } from './models.controller.js';
import { OpenApiController } from './openapi.controller.js';
import { OperatorGate } from './operator-gate.js';
import { Preparation } from './preparation.js';
import { Prompts } from './prompts.js';

/** The public API and the operator's. Its neighbours bring `Ledger`, `Books`, `Limiter`, `InferenceRouter` and `Retrieval`. */
@Module({})
export class GatewayModule {
  static with(settings: GatewaySettings, neighbours: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: GatewayModule,
      imports: neighbours,
      controllers: [
        ChatController,
        ModelsController,
        CharactersController,
        OpenApiController,
        DocsController,
        AccountsController,
        AuditController,
      ],
      providers: [
        { provide: GatewaySettings, useValue: settings },
        AccountStore,
        Admission,
        AnswerWriter,
        Attachments,
        CallerGate,
        CallerGuard,
        ChatDoor,
        ChatPipeline,
        DevelopmentAccount,
        Inference,
        KeyStore,
        OperatorGate,
        Preparation,
        Prompts,
      ],
      exports: [DevelopmentAccount],
    };
  }
}
