import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtServices, containersOf, docker, imageId, imageOfContainer } from './deploy/compose.mjs';
import { replace } from './deploy/replace.mjs';
import { log, ROOT, runTool, SetupError } from './ensure-installed.mjs';

// `npx nx deploy infra`: brings a compose installation to the images that were built, one service at a time. Without the
// loss of a call, except those that agents are handling while the runtime is replaced. When a service does not become
// healthy, it and those before it go back to the images that they had. Arguments: the services; without any, all.
const given = process.argv.slice(2);

await runTool(async () => {
  const file = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const services = builtServices(file).filter(({ name }) => given.length === 0 || given.includes(name));
  const replaced = [];
  for (const service of services) {
    const [running] = containersOf(service.name);
    if (running === undefined)
      throw new SetupError(
        `${service.name} does not run. Start the installation with docker compose up --detach.`,
      );
    const before = imageOfContainer(running);
    if (before === imageId(service.image)) continue;
    log(`${service.name}: replacing ...`);
    replaced.unshift({ service, before });
    try {
      await replace(service, log);
    } catch (error) {
      log(`${service.name}: ${error.message}. Going back.`);
      await goBack(replaced);
      return 1;
    }
    log(`${service.name}: replaced.`);
  }
  log(replaced.length === 0 ? 'Every service already runs its image.' : 'Deployed.');
  return 0;
});

async function goBack(replaced) {
  for (const { service, before } of replaced) {
    docker('tag', before, service.image);
    const running = containersOf(service.name).map(imageOfContainer);
    if (running.length > 0 && running.every((image) => image === before)) continue;
    await replace(service, log);
    log(`${service.name}: back.`);
  }
}
