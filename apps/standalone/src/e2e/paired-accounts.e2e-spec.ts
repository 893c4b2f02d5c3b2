import { describeAccountApi } from './account-api.suite.js';
import { describeAccountsApi } from './accounts-api.suite.js';
import { describeAnalytics } from './analytics.suite.js';
import { describeAuditApi } from './audit-api.suite.js';
import { describeCaps } from './caps.suite.js';
import { describeClientInBrowser } from './client-in-browser.suite.js';
import { describeDoctorCommand } from './doctor-command.suite.js';
import { describeEndUserActivity } from './end-user-activity.suite.js';
import { describeEndUserAgents } from './end-user-agents.suite.js';
import { environmentOfPage } from './end-user-page.fixture.js';
import { describeEndUserPage } from './end-user-page.suite.js';
import { describeEndUserSuspension } from './end-user-suspension.suite.js';
import { describeEndUserTokens } from './end-user-tokens.suite.js';
import { describeEndUsersApi } from './end-users-api.suite.js';
import { describeFeedback } from './feedback.suite.js';
import { describeIsolation } from './isolation.suite.js';
import { describeLlm } from './llm-calls.suite.js';
import { describeLlmInside } from './llm-inside.suite.js';
import { describeLlmRefusals } from './llm-refusals.suite.js';
import { describeLlmRules } from './llm-rules.suite.js';
import { pairedInstallation } from './paired.fixture.js';
import { describePlans } from './plans.suite.js';
import { describePoliciesApi } from './policies-api.suite.js';
import { describeRecount } from './recount.suite.js';
import { describeShownSecrets } from './shown-secrets.suite.js';
import { describeRequestRate, describeTokensApi } from './tokens-api.suite.js';
import { describeUsage } from './usage-api.suite.js';

// Who may do what, and what it costs.
const { stack, upstream } = pairedInstallation(environmentOfPage());

describeAccountApi(stack);
describeAccountsApi(stack);
describeIsolation(stack);
describeEndUsersApi(stack);
describeEndUserAgents(stack);
describeEndUserActivity(stack);
describeEndUserTokens(stack);
describeEndUserSuspension(stack);
describeEndUserPage(stack);
describeClientInBrowser(stack);
describePoliciesApi(stack);
describeCaps(stack);
describePlans(stack, {
  hangUp: () => {
    for (const { child } of stack().programs.values()) child.kill('SIGHUP');
  },
  printed: () => [...stack().programs.values()].map(({ printed }) => printed).join(''),
});
describeTokensApi(stack);
describeRequestRate(stack);
describeShownSecrets(stack);
describeAuditApi(stack);
describeUsage(stack);
describeAnalytics(stack);
describeLlm(stack, upstream);
describeLlmInside(stack);
describeLlmRefusals(stack, upstream);
describeLlmRules(stack, upstream);
describeFeedback(stack);
describeDoctorCommand(stack);
describeRecount(stack);
