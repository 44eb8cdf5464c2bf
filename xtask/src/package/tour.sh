# The first song requests of a new deployment, through its proxy: one at a price of 0, and a paid one. $1 is the URL of the
# service, $2 the password of the operator, $3 the file with the certificate of the proxy's authority, and $4 the secret of
# the payment provider, which the script plays itself.
set -e -o pipefail
API=$1/api/v1
json() { curl -sS --cacert "$CA" --fail-with-body -H 'Content-Type: application/json' "$@"; }
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }
CA=$3

# The server was just started.
json --retry 30 --retry-delay 1 --retry-all-errors "$1/health/ready" >/dev/null
json "$API/auth/login" -d "{\"email\":\"operator@example.com\",\"password\":\"$2\"}" >/dev/null
DJ=$(json "$API/auth/register" -d '{"email":"dee@example.com","password":"correct horse","name":"Dee Jay","is_dj":true}')
GUEST=$(json "$API/auth/register" -d '{"email":"ada@example.com","password":"battery staple","name":"Ada"}')
DJ_ID=$(echo "$DJ" | field id)
DJ="Authorization: Bearer $(echo "$DJ" | field access_token)"
GUEST="Authorization: Bearer $(echo "$GUEST" | field access_token)"
prices() {
  json -X PATCH "$API/user/personal-info" -H "$DJ" \
    -d "{\"online\":1,\"fee_upcoming_artist\":$1,\"fee_popular_song\":$1}" >/dev/null
}
accepted() {
  SONG='"song_title":"Blue Monday","artist_name":"New Order","artist_type":"popular"'
  REQUEST=$(json "$API/music/requests" -H "$GUEST" -d "{\"dj_id\":$DJ_ID,$SONG}" | field id)
  json -X PATCH "$API/music/requests-update/$REQUEST" -H "$DJ" -d '{"status":"accepted"}'
}
prices 0
accepted

PAYMENT=$(json "$API/wallet/topups" -H "$GUEST" -d '{"amount":40}' | field reference)
PAID='{"type":"topup.confirmed","data":{"reference":"'$PAYMENT'","amount":40.00,"currency":"USD"}}'
NOW=$(date +%s)
KEY=$(printf %s "${4#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
SIGNATURE=$(printf %s "msg_1.$NOW.$PAID" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)
json "$API/providers/topups" -H 'webhook-id: msg_1' -H "webhook-timestamp: $NOW" -H "webhook-signature: v1,$SIGNATURE" \
  -d "$PAID"
prices 12.50
accepted
