import { runService } from '@berth/service';
import { EndUsersModule } from './end-users.module.js';

await runService(EndUsersModule, process.env);
