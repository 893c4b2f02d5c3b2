import { runService } from '@berth/service';
import { AgentsModule } from './agents.module.js';

await runService(AgentsModule, process.env);
