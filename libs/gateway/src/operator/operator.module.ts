import { Module } from '@nestjs/common';
import { KeysModule } from '../keys/keys.module.js';
import { AccountLimitsController } from './account-limits.controller.js';
import { AccountsController } from './accounts.controller.js';
import { ActionsController } from '../actions/actions.controller.js';
import { AuditController } from './audit.controller.js';
import { BackendsController } from './backends.controller.js';
import { ChargesController } from './charges.controller.js';
import { DebitsController } from './debits.controller.js';
import { JobsController } from './jobs.controller.js';
import { KeysController } from './keys.controller.js';
import { PaymentsController } from './payments.controller.js';
import { RefundsController } from './refunds.controller.js';
import { StakesController } from './stakes.controller.js';
import { StatementsController } from './statements.controller.js';
import { AccountTermsController } from './account-terms.controller.js';
import { TokenController } from './token.controller.js';
import { ActionLog } from '../actions/action-log.js';
import { ActionStore } from '../actions/action.store.js';
import { FileChanges } from '../actions/file-changes.js';

/** The operator's routes, each of whose actions is logged before it runs. */
@Module({
  imports: [KeysModule],
  controllers: [
    AccountLimitsController,
    AccountsController,
    ActionsController,
    AuditController,
    BackendsController,
    ChargesController,
    DebitsController,
    JobsController,
    KeysController,
    PaymentsController,
    RefundsController,
    StakesController,
    StatementsController,
    AccountTermsController,
    TokenController,
  ],
  providers: [ActionLog, ActionStore, FileChanges],
})
export class OperatorModule {}
