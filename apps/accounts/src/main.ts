import { runService } from '@berth/service';
import { AccountsModule } from './accounts.module.js';

await runService(AccountsModule, process.env);
