-- Whoever is logged in is known where their sessions began. From where those were refreshed was not kept.
INSERT INTO login_networks (user_id, network, seen_at)
    SELECT user_id, network(set_masklen(address::inet, CASE family(address::inet) WHEN 4 THEN 32 ELSE 64 END))::text,
        max(began_at)
    FROM sessions
    WHERE address IS NOT NULL AND began_at > now() - interval '30 days'
    GROUP BY 1, 2
    ON CONFLICT DO NOTHING;
