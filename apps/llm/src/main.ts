import { runService } from '@berth/service';
import { LlmModule } from './llm.module.js';

await runService(LlmModule, process.env);
