import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { BatchesModule } from '@svc/batches';
import { ClientDialectsModule } from '@svc/client-dialects';
import { MediaApiModule } from '@svc/media-api';
import { type GatewaySettings, PaidModule } from '@svc/paid';
import { IdentityModule } from '@svc/identity';
import { RpcModule } from '@svc/rpc';
import { TextModule } from '@svc/text';
import { ConsoleModule } from './console/console.module.js';
import { AugmentController } from './augment/augment.controller.js';
import { BillingModule } from './billing/billing.module.js';
import { DocsController } from './docs/docs.controller.js';
import { OpenApiController } from './docs/openapi.controller.js';
import { KeysModule } from './keys/keys.module.js';
import { OperatorModule } from './operator/operator.module.js';
import { TeeController } from './tee/tee.controller.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The API for clients and operators. `PaidModule` says what the imported modules must provide. */
@Module({})
export class GatewayModule {
  static with(settings: GatewaySettings, neighbours: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: GatewayModule,
      imports: [
        IdentityModule.with(settings, neighbours),
        PaidModule.with(settings, neighbours),
        TextModule,
        ClientDialectsModule,
        MediaApiModule,
        RpcModule,
        BatchesModule,
        KeysModule,
        BillingModule,
        WebhooksModule,
        OperatorModule,
        ConsoleModule,
      ],
      controllers: [AugmentController, DocsController, OpenApiController, TeeController],
    };
  }
}
