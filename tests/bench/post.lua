-- The same request as the other references send.
wrk.method = "POST"
wrk.body = '{"p":"' .. string.rep("x", 504) .. '"}'
wrk.headers["Content-Type"] = "application/json"
