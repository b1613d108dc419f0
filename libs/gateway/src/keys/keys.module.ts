import { Module } from '@nestjs/common';
import { ApiKeys } from './api-keys.js';
import { ApiKeysController } from './api-keys.controller.js';
import { EndUsersController } from './end-users.controller.js';
import { KeyChanges, KeyChangesConsumer } from './key-changes.js';
import { KeyCreationLimit } from './key-creation-limit.js';
import { RateLimitUse } from './rate-limit-use.js';
import { RateLimitsController } from './rate-limits.controller.js';
import { RateLimitsView } from './rate-limits-view.js';
import { WalletKeys } from './wallet-keys.js';
import { WalletKeysController } from './wallet-keys.controller.js';

/** The keys of an account and their limits. */
@Module({
  controllers: [
    ApiKeysController,
    EndUsersController,
    KeyChangesConsumer,
    RateLimitsController,
    WalletKeysController,
  ],
  providers: [ApiKeys, KeyChanges, KeyCreationLimit, RateLimitUse, RateLimitsView, WalletKeys],
  exports: [ApiKeys, KeyChanges],
})
export class KeysModule {}
