import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsolePagesController } from './console-pages.controller.js';
import { SignIns } from './sign-ins.js';

/** The console in a browser. */
@Module({
  controllers: [ConsoleController, ConsolePagesController],
  providers: [SignIns],
})
export class ConsoleModule {}
