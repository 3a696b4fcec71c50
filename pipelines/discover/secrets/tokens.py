"""Tokens that their own form gives away: a beginning that only one issuer uses, and what must follow it.

One row is one form. Rows say facts of the issuers' own documents: the literal that a token begins with, and alphabet
and length of the rest. `scan` looks for all of them at once.
"""

from __future__ import annotations

from typing import NamedTuple

#: A secret that was found: start, end, detector.
Found = tuple[int, int, str]


class Token(NamedTuple):
    """One form of token. Every pattern is bounded."""

    detector: str
    literal: str
    body: str
    #: What stands before the literal and belongs to the token.
    lead: str = ""
    #: Least begin of the body as RE2 sees it, for a literal so short that it stands in many words.
    needs: str = "[A-Za-z0-9_/+.$-]{8}"
    #: What must not follow, for a token of fixed length.
    after: str = ""
    #: What must not stand before: in words of a name for a literal that names end with, and for one that a long body
    #: may hold many times.
    before: str = "[A-Za-z0-9]"


_END = "[A-Za-z0-9]"
_WORD = "[A-Za-z0-9_-]"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

CLOUDS: tuple[Token, ...] = (
    Token("aws-access-key", "AKIA", "[0-9A-Z]{16}", after=_END),
    Token("aws-access-key", "ASIA", "[0-9A-Z]{16}", after=_END),
    Token("aws-access-key", "ABIA", "[0-9A-Z]{16}", after=_END),
    Token("aws-access-key", "ACCA", "[0-9A-Z]{16}", after=_END),
    Token("aws-marketplace-token", "amzn.mws.", _UUID),
    Token("aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}", needs="[A-Za-z0-9+/]{20}"),
    Token("google-key", "AIza", "[A-Za-z0-9_-]{35}", after="[A-Za-z0-9_-]"),
    Token("google-key", "GOCSPX-", "[A-Za-z0-9_-]{24,64}"),
    Token("google-key", "ya29.", "[A-Za-z0-9_-]{30,512}"),
    Token("google-key", "1//0", "[A-Za-z0-9_-]{40,128}", needs="[A-Za-z0-9_-]{20}"),
    Token("firebase-key", "AAAA", "[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{140}", needs="[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{8}"),
    Token("azure-key", "AccountKey=", "[A-Za-z0-9+/]{86}=="),
    Token("azure-key", "SharedAccessKey=", "[A-Za-z0-9+/]{43}="),
    Token("azure-key", "Q~", "[A-Za-z0-9_~.-]{31,34}", lead="[A-Za-z0-9_~.-]{3}[0-9]", needs="[A-Za-z0-9_~.-]{16}"),
    Token("azure-signature", "sig=", "[A-Za-z0-9%/+]{40,60}(?:%3D|%3d|=)", needs="[A-Za-z0-9%/+]{16}"),
    Token("alibaba-key", "LTAI", "[A-Za-z0-9]{12,24}", after=_END),
    Token("tencent-key", "AKID", "[A-Za-z0-9]{32}", after=_END),
    Token("yandex-key", "AQVN", "[A-Za-z0-9_-]{35,38}", after="[A-Za-z0-9_-]"),
    Token("digitalocean-token", "dop_v1_", "[a-f0-9]{64}"),
    Token("digitalocean-token", "doo_v1_", "[a-f0-9]{64}"),
    Token("digitalocean-token", "dor_v1_", "[a-f0-9]{64}"),
    Token("heroku-key", "HRKU-", "[A-Za-z0-9_-]{30,64}"),
    Token("fly-token", "fo1_", "[A-Za-z0-9_-]{43}"),
    Token("fly-token", "fm2_", "[A-Za-z0-9+/]{80,500}={0,3}"),
    Token("netlify-token", "nfp_", "[A-Za-z0-9]{36,64}"),
    Token("supabase-key", "sbp_", "[a-f0-9]{40}"),
    Token("supabase-key", "sb_secret_", "[A-Za-z0-9_-]{22,64}"),
    Token("planetscale-token", "pscale_", "(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}"),
    Token("cloudflare-key", "v1.0-", "[a-f0-9]{24}-[a-f0-9]{146}", needs="[a-f0-9]{16}"),
    Token("databricks-token", "dapi", "[a-f0-9]{32}", needs="[a-f0-9]{16}", after=_END),
    Token("tailscale-key", "tskey-", "(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{6,32}-[A-Za-z0-9]{16,64}"),
)

FORGES: tuple[Token, ...] = (
    *(
        Token("github-token", f"gh{kind}_", "[A-Za-z0-9]{36,255}", needs="[A-Za-z0-9]{20}")
        for kind in ("p", "o", "u", "s", "r")
    ),
    Token("github-token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    *(
        Token("gitlab-token", f"{kind}-", "[A-Za-z0-9_-]{20,255}", needs="[A-Za-z0-9_-]{20}")
        for kind in ("glpat", "gldt", "glrt", "glptt", "glft", "glsoat", "glcbt", "glagent", "glimt", "gloas")
    ),
    Token("gitlab-token", "GR1348941", "[A-Za-z0-9_-]{20}"),
    Token("bitbucket-token", "ATBB", "[A-Za-z0-9]{32}", after=_END),
    Token("atlassian-token", "ATATT3", "[A-Za-z0-9_=-]{100,300}"),
    Token("atlassian-token", "ATCTT3", "[A-Za-z0-9_=-]{100,300}"),
    Token("npm-token", "npm_", "[A-Za-z0-9]{36}", needs="[A-Za-z0-9]{20}", after=_END),
    Token("pypi-token", "pypi-AgE", "[A-Za-z0-9_-]{40,1000}"),
    Token("rubygems-key", "rubygems_", "[a-f0-9]{48}"),
    Token("nuget-key", "oy2", "[a-z0-9]{43}", needs="[a-z0-9]{43}", after=_END, before=_WORD),
    Token("crates-token", "cio", "[A-Za-z0-9]{32}", needs="[A-Za-z0-9]{32}", after=_END, before=_WORD),
    Token("clojars-token", "CLOJARS_", "[a-z0-9]{60}"),
    Token("artifactory-key", "AKCp", "[A-Za-z0-9]{60,80}"),
    Token("artifactory-token", "cmVmdGtuOj", "[A-Za-z0-9]{54}"),
    Token("docker-token", "dckr_pat_", "[A-Za-z0-9_-]{24,64}"),
    Token("docker-token", "dckr_oat_", "[A-Za-z0-9_-]{24,64}"),
    Token("buildkite-token", "bkua_", "[a-z0-9]{40}"),
    Token("circleci-token", "CCIPAT_", "[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    Token("sourcegraph-token", "sgp_", "(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    Token("terraform-token", ".atlasv1.", "[A-Za-z0-9_=-]{60,70}", lead="[A-Za-z0-9]{14}"),
    Token("pulumi-token", "pul-", "[a-f0-9]{40}"),
    Token("vault-token", "hvs.", "[A-Za-z0-9_-]{24,300}"),
    Token("vault-token", "hvb.", "[A-Za-z0-9_-]{24,300}"),
    Token(
        "doppler-token",
        "dp.",
        "(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9_.-]{40,64}",
        needs="[a-z]{2,5}\\.[A-Za-z0-9]",
        before=_WORD,
    ),
    Token("onepassword-token", "ops_eyJ", "[A-Za-z0-9+/=]{100,1000}"),
    Token("age-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    Token("postman-key", "PMAK-", "[a-f0-9]{24}-[a-f0-9]{34}"),
)

MODELS: tuple[Token, ...] = (
    Token("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{24,255}"),
    Token(
        "openai-key",
        "sk-",
        "(?:(?:proj|svcacct|admin|None|or-v1|lf)-[A-Za-z0-9_-]{24,255}|[A-Za-z0-9]{32,128})",
        needs="[A-Za-z0-9_-]{24}",
    ),
    Token("groq-key", "gsk_", "[A-Za-z0-9]{48,56}"),
    Token("perplexity-key", "pplx-", "[A-Za-z0-9]{40,64}"),
    Token("xai-key", "xai-", "[A-Za-z0-9]{70,90}", needs="[A-Za-z0-9]{20}"),
    Token("nvidia-key", "nvapi-", "[A-Za-z0-9_-]{60,70}"),
    Token("replicate-token", "r8_", "[A-Za-z0-9]{37}", needs="[A-Za-z0-9]{20}", after=_END),
    Token("hugging-face-token", "hf_", "[A-Za-z0-9]{32,64}", needs="[A-Za-z0-9]{20}", after=_END),
    Token("hugging-face-token", "api_org_", "[A-Za-z0-9]{34}", after=_END),
    Token("langsmith-key", "lsv2_", "(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    Token("pinecone-key", "pcsk_", "[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,80}"),
    Token("tavily-key", "tvly-", "(?:dev-|prod-)?[A-Za-z0-9]{28,40}"),
    Token("elevenlabs-key", "sk_", "[a-f0-9]{48}", needs="[a-f0-9]{20}", after=_END, before=_WORD),
)

#: Digits in base64, all but the first letter: the number of an account.
_DIGITS = "[DTjz][AEIMQUYcgk][wxyz0-5](?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){4}"

SERVICES: tuple[Token, ...] = (
    Token(
        "jwt",
        "eyJ",
        "[A-Za-z0-9_-]{10,4096}+\\.eyJ[A-Za-z0-9_-]{10,4096}+\\.[A-Za-z0-9_-]{20,1024}",
        needs="[A-Za-z0-9_-]{10}",
        before=_WORD,
    ),
    Token("slack-token", "xox", "[abeoprs]-[0-9][A-Za-z0-9-]{12,255}", needs="[abeoprs]-[0-9][A-Za-z0-9-]{8}"),
    Token("slack-token", "xoxe.", "xox[bp]-[A-Za-z0-9-]{40,255}"),
    Token("slack-token", "xapp-", "[A-Za-z0-9-]{12,255}"),
    Token("slack-webhook", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Z0-9]{6,20}/[A-Za-z0-9/]{20,200}"),
    Token("discord-webhook", "/api/webhooks/", "[0-9]{15,22}/[A-Za-z0-9_-]{40,200}"),
    Token("teams-webhook", ".webhook.office.com/", "webhookb2/[A-Za-z0-9@/-]{60,300}"),
    Token("zapier-webhook", "hooks.zapier.com/", "hooks/catch/[0-9]{5,12}/[A-Za-z0-9]{5,20}"),
    *(
        Token(
            "discord-token",
            digit,
            _DIGITS + "[A-Za-z0-9_-]{1,8}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,38}",
            needs=_DIGITS,
        )
        for digit in "MNO"
    ),
    Token("telegram-token", ":AA", "[A-Za-z0-9_-]{33}", lead="[0-9]{8,10}", after="[A-Za-z0-9_-]"),
    Token("stripe-key", "sk_live_", "[A-Za-z0-9]{16,255}"),
    Token("stripe-key", "rk_live_", "[A-Za-z0-9]{16,255}"),
    Token("stripe-key", "whsec_", "[A-Za-z0-9+/]{24,255}"),
    Token("square-token", "sq0", "(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}", needs="[a-z]{3}-[A-Za-z0-9_-]{8}"),
    Token("square-token", "EAAA", "[A-Za-z0-9_-]{60}", needs="[A-Za-z0-9_-]{40}", after="[A-Za-z0-9_-]"),
    Token("braintree-token", "access_token$production$", "[0-9a-z]{16}\\$[0-9a-f]{32}"),
    Token("shopify-token", "shp", "(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", needs="[acps][ats]_[a-fA-F0-9]{8}"),
    Token("flutterwave-key", "FLWSECK-", "[a-z0-9]{32}-X"),
    Token("easypost-key", "EZAK", "[A-Za-z0-9]{54}", after=_END),
    Token("shippo-key", "shippo_live_", "[a-f0-9]{40}"),
    Token("plaid-token", "access-production-", _UUID),
    Token("facebook-token", "EAACEdEose0cBA", "[A-Za-z0-9]{20,300}"),
    Token("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,120}", needs="[A-Za-z0-9%]{40}"),
    Token("dropbox-token", "sl.", "[A-Za-z0-9_-]{130,300}", needs="[A-Za-z0-9_-]{60}", before=_WORD),
    Token("sendgrid-key", "SG.", "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}", needs="[A-Za-z0-9_-]{22}\\."),
    Token("brevo-key", "xkeysib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    Token("mailgun-key", "key-", "[a-f0-9]{32}", needs="[a-f0-9]{20}", after=_END, before=_WORD),
    Token("mailchimp-key", "-us", "[0-9]{1,2}", lead="[0-9a-f]{32}", needs="[0-9]", after=_END),
    Token(
        "resend-key",
        "re_",
        "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",
        needs="[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",
        after=_END,
        before=_WORD,
    ),
    Token("twilio-key", "SK", "[0-9a-f]{32}", needs="[0-9a-f]{16}", after=_END, before=_WORD),
    Token("linear-key", "lin_api_", "[A-Za-z0-9]{40}"),
    Token("notion-token", "ntn_", "[A-Za-z0-9]{40,60}"),
    Token("notion-token", "secret_", "[A-Za-z0-9]{43}", needs="[A-Za-z0-9]{43}", after=_END, before=_WORD),
    Token("figma-token", "figd_", "[A-Za-z0-9_-]{40,64}"),
    Token("airtable-token", "pat", "[A-Za-z0-9]{14}\\.[a-f0-9]{64}", needs="[A-Za-z0-9]{14}\\.", before=_WORD),
    Token("typeform-token", "tfp_", "[A-Za-z0-9_.-]{50,64}"),
    Token("contentful-token", "CFPAT-", "[A-Za-z0-9_-]{43}"),
    Token("hubspot-token", "pat-", "(?:na|eu)[0-9]-" + _UUID, needs="(?:na|eu)[0-9]-", before=_WORD),
    Token("mapbox-token", "sk.eyJ", "[A-Za-z0-9_-]{40,300}\\.[A-Za-z0-9_-]{20,64}"),
    Token("adafruit-key", "aio_", "[A-Za-z0-9]{28}", needs="[A-Za-z0-9]{20}", after=_END, before=_WORD),
    Token("grafana-token", "glc_", "[A-Za-z0-9+/]{32,400}={0,2}", needs="[A-Za-z0-9+/]{20}"),
    Token("grafana-token", "glsa_", "[A-Za-z0-9]{32}_[a-fA-F0-9]{8}"),
    Token("newrelic-key", "NRAK-", "[A-Z0-9]{27}"),
    Token("newrelic-key", "NRII-", "[A-Za-z0-9_-]{32}"),
    Token("sentry-token", "sntryu_", "[a-f0-9]{64}"),
    Token("sentry-token", "sntrys_", "[A-Za-z0-9+/=_]{80,400}"),
    Token("dynatrace-token", "dt0c01.", "[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    Token("prefect-key", "pnu_", "[A-Za-z0-9]{36}", needs="[A-Za-z0-9]{20}", after=_END),
    Token("posthog-key", "phx_", "[A-Za-z0-9]{43,64}", needs="[A-Za-z0-9]{20}"),
)

#: Private keys without their head and end lines: the first bytes of their ASN.1 are the same for every key.
KEYS: tuple[Token, ...] = (
    Token("private-key", "MII", "[A-Za-z0-9+/]{3}IBAAK[BC]", needs="[A-Za-z0-9+/]{3}IBAAK[BC]"),  # RSA
    Token("private-key", "MII", "[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAAS", needs="[A-Za-z0-9+/]{3}IBADANBgkq"),
    Token("private-key", "MIGHAgEAMBMGByqGSM49AgEG", "[A-Za-z0-9+/]{8}"),  # P-256
    Token("private-key", "MIG2AgEAMBAGByqGSM49AgEG", "[A-Za-z0-9+/]{8}"),  # P-384
    Token("private-key", "MC4CAQAwBQYDK2Vw", "[A-Za-z0-9+/]{8}"),  # Ed25519
    Token("private-key", "MHcCAQEEI", "[A-Za-z0-9+/]{8}"),  # SEC 1
    Token("private-key", "MIGkAgEBBD", "[A-Za-z0-9+/]{8}"),
)

TOKENS: tuple[Token, ...] = (*CLOUDS, *FORGES, *MODELS, *SERVICES)
