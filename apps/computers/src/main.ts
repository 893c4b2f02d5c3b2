import { runService } from '@berth/service';
import { ComputersModule } from './computers.module.js';

await runService(ComputersModule, process.env);
