const PLACEMENT = 'apps/agents/src/host/placement.ts';
const PLACEMENT_SPEC = 'apps/agents/src/host/computer-placement.int-spec.ts';
const REPORTS_SPEC = 'apps/runtime/src/report/computer-reports.int-spec.ts';
const EXCHANGE = 'apps/runtime/src/transfer/guest-exchange.ts';
const TRANSFERS_SPEC = 'apps/runtime/src/transfer/computer-transfers.int-spec.ts';
const RELAY = 'libs/platform/sockets/src/http-relay.ts';
const RELAY_SPEC = 'libs/platform/sockets/src/http-relay.int-spec.ts';
const CLIENT = 'libs/platform/agent-client/src/agent-client.ts';
const CLIENT_SPEC = 'libs/platform/agent-client/src/agent-client.spec.ts';

/** Computers on hosts: their placement, boxes, reports and transfers. */
export const COMPUTER_HOSTS = [
  {
    guarantee: 'A computer goes only to a host that has desktops.',
    file: PLACEMENT,
    find: '(!desktops || figures?.desktops === true)',
    replace: '(desktops || !desktops || figures !== null)',
    test: 'apps/agents/src/host/placement.spec.ts',
    title: 'for a computer only if it has desktops, which hosts of earlier versions do not say',
  },
  {
    guarantee: 'A host that has lost its desktops since its announcement gets no computer.',
    file: PLACEMENT,
    find: '(!isComputer(creation) || view.desktops === true)',
    replace: '(!isComputer(creation) || view.host !== null)',
    test: PLACEMENT_SPEC,
    title: 'is not placed on a host that has lost its desktops since it announced itself',
  },
  {
    guarantee: 'Computers are unsupported only where no host has desktops.',
    file: PLACEMENT,
    find: '!present.some(({ desktops }) => desktops === true)',
    replace: '!present.every(({ desktops }) => desktops === true)',
    test: PLACEMENT_SPEC,
    title: 'is refused for the moment if no host with desktops %s',
  },
  {
    guarantee: 'A host that is down for the moment makes computers not unsupported.',
    file: PLACEMENT,
    find: 'present.length > 0 && !present.some(',
    replace: 'present.length >= 0 && !present.some(',
    test: PLACEMENT_SPEC,
    title: 'is refused for the moment if no host with desktops %s',
  },
  {
    guarantee: 'The placement of a computer is taken for no unfinished creation of an agent.',
    file: PLACEMENT,
    find: "AND agent_id LIKE 'agt%' ORDER BY",
    replace: 'ORDER BY',
    test: PLACEMENT_SPEC,
    title: 'is no unfinished creation of an agent',
  },
  {
    guarantee: 'The placements of computers are forgotten.',
    file: PLACEMENT,
    find: '      await forgetPlacedComputers(tx);\n',
    replace: '      if (except.size > 99) await forgetPlacedComputers(tx);\n',
    test: PLACEMENT_SPEC,
    title: 'is no unfinished creation of an agent',
  },
  {
    guarantee: 'A host announces to each service only what belongs to it: other boxes would be ordered away.',
    file: 'apps/runtime/src/report/host-announcer.ts',
    find: 'filter(({ agentId }) => boxOwner(agentId) === owner)',
    replace: "filter(({ agentId }) => owner === 'agents' || boxOwner(agentId) === owner)",
    test: REPORTS_SPEC,
    title: 'tells each service about its own, in announcements and reports',
  },
  {
    guarantee: 'The announcement to agents does not depend on a service for computers.',
    file: 'apps/runtime/src/report/host-announcer.ts',
    find: 'await Promise.all(BOX_OWNERS.map((owner) => this.#keepAnnouncing(owner, link, signal)));',
    replace:
      "await this.announce('computers');\n    await Promise.all(BOX_OWNERS.map((owner) => this.#keepAnnouncing(owner, link, signal)));",
    test: REPORTS_SPEC,
    title:
      'announces agents as ever in an installation that has no service for computers, and tells it once it has',
  },
  {
    guarantee: 'What happens to a computer is reported to the service that it belongs to.',
    file: 'apps/runtime/src/report/report-requests.ts',
    find: "REPORT_REQUESTS[boxOwner(boxId) ?? 'agents'];",
    replace: "REPORT_REQUESTS[boxOwner(boxId) === undefined ? 'computers' : 'agents'];",
    test: REPORTS_SPEC,
    title: 'reports at its end to each service which of its own have ended',
  },
  {
    guarantee: 'The activity of a computer is reported to the service that it belongs to.',
    file: 'apps/runtime/src/report/activity-reporter.ts',
    find: "this.#batches[boxOwner(agentId) ?? 'agents'].note(",
    replace: "this.#batches[boxOwner(agentId) === undefined ? 'computers' : 'agents'].note(",
    test: REPORTS_SPEC,
    title: 'tells each service about its own, in announcements and reports',
  },
  {
    guarantee: 'A batch of actions keeps its computer awake after its caller has hung up.',
    file: EXCHANGE,
    find: '        outlivesCaller: true,\n',
    replace: '',
    test: TRANSFERS_SPEC,
    title: 'keep it awake until its actions are done, also when the gateway has hung up',
  },
  {
    guarantee: 'Screens, images and actions are activity of a computer.',
    file: 'apps/runtime/src/transfer/transfers.ts',
    find: "  vnc: 'computer',\n",
    replace: '  vnc: null,\n',
    test: TRANSFERS_SPEC,
    title: 'include its screen as a WebSocket, which keeps it awake until it is put to sleep',
  },
  {
    guarantee: 'Headers of a screenshot pass only in their form.',
    file: EXCHANGE,
    find: 'const PIXELS = /^\\d{1,5}$/;',
    replace: 'const PIXELS = /^.{1,5}$/;',
    test: TRANSFERS_SPEC,
    title: 'include an image of its screen, with its size and time',
  },
  {
    guarantee: 'A forwarded exchange that outlives its caller is read to its end.',
    file: 'libs/platform/sockets/src/relayed-response.ts',
    find: '    received.resume();\n',
    replace: '    received.pause();\n',
    test: RELAY_SPEC,
    title: 'goes on to the end of its response, however long that is',
  },
  {
    guarantee: 'A forwarded exchange ends with its caller while its request is not complete.',
    file: RELAY,
    find: 'rules.outlivesCaller === true && onward.writableEnded;',
    replace: 'rules.outlivesCaller === true && onward.writable !== undefined;',
    test: RELAY_SPEC,
    title: 'ends with its caller while the request is not complete',
  },
  {
    guarantee: 'A forwarded exchange without a caller ends when the next server stalls.',
    file: RELAY,
    find: '    if (rules.outlivesCaller === true) onward.setTimeout(rules.idleMs, leave);\n',
    replace: '',
    test: RELAY_SPEC,
    title: 'ends when the next server stalls',
  },
  {
    guarantee: 'A computer is woken by the service that it belongs to.',
    file: CLIENT,
    find: "if (boxOwner(use.agentId) === 'computers') {",
    replace: 'if (boxOwner(use.agentId) === undefined) {',
    test: CLIENT_SPEC,
    title: 'wakes it with the service that it belongs to, and names the stale epoch',
  },
  {
    guarantee: 'A computer that cannot be reached has an error of computers.',
    file: 'libs/contracts/src/runtime/box-owner.ts',
    find: "boxOwner(boxId) === 'computers'",
    replace: 'boxOwner(boxId) === undefined',
    test: CLIENT_SPEC,
    title: 'fails with an error of computers when it %s',
  },
  {
    guarantee: 'Containers of computers are found again.',
    file: 'apps/runtime/src/driver/nerdctl/container-list.ts',
    find: '(?:agt|cmp)_',
    replace: '(?:agt)_',
    test: 'apps/runtime/src/driver/nerdctl/nerdctl-output.spec.ts',
    title: 'names the agent or computer and the epoch of each container',
  },
  {
    guarantee: 'The image of desktops has what a host needs for them.',
    file: 'infra/images/desktop/Dockerfile',
    find: 'fonts-noto-cjk ',
    replace: '',
    test: 'libs/platform/host-requirements/src/desktop-programs.spec.ts',
    title: 'is the same in the image for containers',
  },
  {
    guarantee: 'A host whose desktops lack a program has none.',
    file: 'libs/platform/host-requirements/src/desktop-programs.ts',
    find: 'programs.some((program) =>',
    replace: 'programs.every((program) =>',
    test: 'libs/platform/host-requirements/src/desktop-programs.spec.ts',
    title: 'is missing by its packages, one of the alternatives for each being enough',
  },
];
